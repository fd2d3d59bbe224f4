"""A comparison's words and chart: claims in few words, names of points that cover nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.reports.comparison_words import HEADERS, audited, cells, heading, of_the_stated
from sfumato.reports.label_places import CHARACTER, LINE, label_places

K = {"model": "k-anonymity", "k": 5}
L = {"model": "l-diversity", "attribute": "d", "l": 3, "variant": "frequency", "missing": "value"}
UNIQUE = {"model": "l-unique-groups", "attribute": "d", "l": 3}
OTHER = {"model": "t-closeness", "attribute": "e", "t": 0.25}
TRIAL = {
    "method": "m",
    "parameters": {},
    "asked": {},
    "notes": [],
    "refused": None,
    "audit": "holds",
    "guarantees": [K, L],
    "kept": [K],
    "not_promised": [L],
    "linkage": {"highest": 0.2, "mean": 0.0001, "blind": 0.00001},
    "inference": [
        {"attribute": "d", "success": 0.1, "blind": 0.2, "highest": 0.3},
        {"attribute": "e", "success": 0.4, "blind": 0.05, "highest": 0.35},
    ],
    "membership": None,
    "utility": {
        "ncp": None,
        "count_mean": 1.5,
        "count_median": 0.02,
        "margin": 0.125,
        "association": 0.0,
    },
    "seconds": 1.5,
    "megabytes": None,
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "k 5; l 3"),
        ({"guarantees": [L, UNIQUE]}, "l 3, unique"),
        ({"guarantees": [K, L, OTHER]}, "k 5; l 3 of d; t 0.25 of e"),
        ({"guarantees": [{**L, "variant": "distinct"}]}, "distinct l 3"),
        ({"audit": "broken"}, "BROKEN: k 5; l 3"),
        ({"audit": "nothing to check", "guarantees": []}, "claims nothing"),
        ({"refused": "infeasible"}, "refused"),
    ],
)
def test_what_was_audited_in_few_words(change, words):
    assert audited(TRIAL | change) == words


def test_which_part_of_the_stated_is_kept():
    assert of_the_stated(TRIAL) == "k 5"
    assert of_the_stated(TRIAL | {"not_promised": []}) == "all"
    assert of_the_stated(TRIAL | {"kept": []}) == "nothing"


def test_a_row_has_the_strongest_inference_and_leaves_out_what_is_not_defined():
    row = dict(zip(HEADERS, cells(TRIAL), strict=True))
    assert (row["inferred"], row["blind"], row["highest"]) == ("40.0%", "5.0%", "35.0%")
    assert (row["re-id highest"], row["re-id mean"]) == ("20.0%", "<0.1%")
    assert (row["NCP"], row["member"], row["MB"]) == ("", "", "")
    assert (row["COUNT mean"], row["margins"], row["pairs"]) == ("150.0%", "0.125", "0.000")


def test_the_heading_tells_of_a_sample():
    found = {"rows": 1000, "of_rows": 5000, "stated": [K], "trials": [TRIAL]}
    said = heading(found | {"people": 500, "queries": 300})
    assert "1,000 rows drawn from 5,000; stated protection: k 5" in said


@given(
    st.lists(st.tuples(st.floats(0, 560), st.floats(10, 320)), min_size=1, max_size=12, unique=True)
)
@settings(max_examples=60, deadline=None)
def test_names_do_not_cover_each_other(points):
    names = ["local-suppression" if n % 2 else "ng" for n in range(len(points))]
    places = label_places(points, names, 620, 330)
    boxes = []
    for place, name in zip(places, names, strict=True):
        left = place.x - len(name) * CHARACTER if place.is_left else place.x
        boxes.append((left, left + len(name) * CHARACTER, place.y - LINE / 2, place.y + LINE / 2))
    for n, (left, right, top, bottom) in enumerate(boxes):
        assert left >= -1e-6 and right <= 620 + 1e-6
        for other in boxes[:n]:
            apart = left >= other[1] or other[0] >= right or top >= other[3] or other[2] >= bottom
            assert apart


def test_a_comparison_without_any_release_has_a_page():
    from sfumato.reports.comparison import as_page

    nothing = dict.fromkeys(("linkage", "membership", "utility", "seconds", "megabytes"))
    refused = TRIAL | nothing | {"refused": "infeasible <b>", "inference": [], "guarantees": []}
    found = {"rows": 9, "of_rows": 9, "stated": [], "trials": [refused], "people": 9}
    page = as_page(found | {"queries": 0, "ok": True, "test": False})
    assert "infeasible &lt;b&gt;" in page
