"""Benchmarks: how fast, how much memory, and how that compares with others, in one command."""
