"""Files at the edge: reading tables from CSV, Parquet, workbooks, SPSS, Stata and SAS."""
