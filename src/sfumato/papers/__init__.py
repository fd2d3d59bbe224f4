"""The experiments of five papers, run again, and their claims held against the numbers."""
