"""The worked example of the SLPPA paper: its Table 1, and Table 3 as two groups of three tables."""

from __future__ import annotations

COLUMNS = ("name", "gender", "job", "age", "zipcode", "salary")
PEOPLE = (
    ("Alice", "F", "Teacher", 30, 11100, 4500),
    ("Ben", "M", "Engineer", 33, 12200, 6000),
    ("Cary", "F", "Engineer", 45, 12200, 4700),
    ("David", "M", "Teacher", 42, 11100, 4500),
    ("Eric", "M", "Doctor", 32, 25300, 6700),
    ("Frank", "M", "Police", 44, 23200, 4000),
    ("Gina", "F", "Doctor", 30, 11100, 6400),
    ("Henry", "M", "Doctor", 33, 12200, 6000),
)
ROWS = [dict(zip(COLUMNS, person, strict=True)) for person in PEOPLE]
ATTRIBUTES = {name: [row[name] for row in ROWS] for name in COLUMNS}
GROUPS = (0, 0, 0, 0, 1, 1, 1, 1)
DIVIDED = (("age", "zipcode"), ("gender", "job"))
