"""Measures: entropy, earth mover's distance, loss; they know no privacy and no tables."""
