"""Files at the edge: reading tables from CSV and Parquet."""
