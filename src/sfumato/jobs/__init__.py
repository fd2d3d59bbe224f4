"""Whole tasks for every front end: draft a policy, check it, publish, demonstrate."""
