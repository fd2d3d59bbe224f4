"""Databases: where they are, and sessions that read and write Arrow tables in one transaction."""
