"""Slow, literal definitions that judge the product and share no code with it.

Nothing here imports the product. Everything is plain Python on lists and dicts, written from the
papers and the release format, so that a mistake in the product cannot hide in its own test.
"""
