"""The version, in one place (a test compares it with the package's metadata)."""

__version__ = "0.1.0"
