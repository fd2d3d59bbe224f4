"""The experiments of the papers, run again: `python -m benchmarks.papers.<paper>`."""
