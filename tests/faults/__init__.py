"""Faults on purpose: a run fails at every point where it touches the disk, and nothing is lost."""
