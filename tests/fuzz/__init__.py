"""Bad input: whatever bytes come in, only our own errors come out."""
