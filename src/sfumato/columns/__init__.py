"""Which attributes belong together: associations between columns, and blocks of columns."""
