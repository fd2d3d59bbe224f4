"""Partitioners of rows: they know groups and models' rules, not which model is asked for."""
