"""Engines that publish where one machine's memory does not reach."""
