"""sfumato."""
