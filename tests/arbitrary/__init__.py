"""Arbitrary inputs for property tests: whatever the product must be able to take."""
