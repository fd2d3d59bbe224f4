"""From groups of rows to published tables and their manifest; knows nothing of files."""
