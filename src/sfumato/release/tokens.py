"""The form of a pseudonym in a release: what a reader can tell of a token without its key."""

from __future__ import annotations

import re

# 128 bits in lower-case letters and digits: neither a number nor anything that a spreadsheet runs.
TOKEN = re.compile(r"[a-z2-7]{26}")
