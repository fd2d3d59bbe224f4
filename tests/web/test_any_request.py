"""Whatever a visitor sends, the workbench answers it: no fault of its own, no inline script."""

from __future__ import annotations

import random

from web.visitor import BOUNDARY, Visitor

PAGES = (
    "data",
    "roles",
    "hierarchy",
    "protect",
    "recommend",
    "runs",
    "answer",
    "compare",
    "preview",
)
TEXTS = [
    *("", "0", "-1", "1e999", "9" * 400, "NaN", "age", "nobody", "../../etc/passwd", "\0", "%00"),
    *(
        "<script>alert(1)</script>",
        "' OR 1=1 --",
        "{",
        "[" * 500,
        "\u202e",
        "Zu\u0308",
        "a" * 20_000,
    ),
]
NAMES = [
    "role-0",
    "role-1",
    "column",
    "method",
    "k",
    "l",
    "t",
    "where",
    "query",
    "name",
    "place",
    "kind",
]


def _answered(answer, what: str) -> None:
    assert answer.status < 500, what
    assert "<script>alert" not in answer.text, what


def test_random_addresses_and_forms(house, people):
    visitor: Visitor = house.visitor()
    project = house.opened(visitor, people)
    rng = random.Random(14)
    tops = ["/", "/new/sample2", "/new/path", "/static/x", *(f"/p/{project.id}/{p}" for p in PAGES)]
    for _ in range(150):
        address = rng.choice(tops)
        if rng.random() < 0.4:
            address += rng.choice(
                ["/", "/x", "/../..", "/%2e%2e", f"/{project.id}", "/20260101-000000-abcdef"]
            )
        if rng.random() < 0.3:
            address += "?" + rng.choice(
                ["column=age", "column=<script>", "token=x", "a=%ff", "page=-1"]
            )
        what = address
        if rng.random() < 0.5:
            _answered(visitor.get(address, follow=False), what)
            continue
        visitor.get(f"/p/{project.id}/roles")
        fields = {rng.choice(NAMES): rng.choice(TEXTS) for _ in range(rng.randint(0, 6))}
        _answered(visitor.post(address, fields, follow=False), f"{what} {sorted(fields)}")
    assert house.notes == []


def test_random_bodies(house):
    visitor: Visitor = house.visitor()
    rng = random.Random(15)
    kinds = ["application/x-www-form-urlencoded", f"multipart/form-data; boundary={BOUNDARY}"]
    kinds += [
        "application/json",
        "multipart/form-data",
        "text/plain",
        "multipart/form-data; boundary=",
    ]
    for _ in range(80):
        body = rng.randbytes(rng.choice([0, 1, 50, 3000]))
        if rng.random() < 0.5:
            body = f"--{BOUNDARY}\r\n".encode() + body + f"\r\n--{BOUNDARY}--\r\n".encode()
        visitor.get("/")
        for address in ("/new/upload", "/new/sample"):
            if address == "/new/sample" and rng.random() < 0.8:
                continue
            _answered(visitor.send(address, body, rng.choice(kinds)), address)
    assert house.notes == []
