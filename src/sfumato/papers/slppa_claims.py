"""What the SLPPA paper claims, and where."""

from __future__ import annotations

from sfumato.papers.claims import Claim
from sfumato.papers.slppa_error_judges import (
    absolute,
    alpha,
    asn_worst,
    close_by,
    grows_along,
    grows_with_width,
    more_attributes,
    slicing_best,
    unchanged,
)
from sfumato.papers.slppa_judges import (
    division_falls,
    division_flat,
    division_grows,
    division_time,
    even,
    feasible,
    group_time,
    keeps_all_four,
    more_groups,
    most_groups,
    regular_groups,
    sizes_of_adult,
    steadier,
)

CLAIMS = (
    Claim(
        "feasible",
        "The three schemes run on these data with α = 0.5, β = 0.05, γ = 0.005, δ = 0.05",
        "6.1, Table 7",
        feasible,
    ),
    Claim(
        "four",
        "Groups of SLPPA keep all four requirements, those of Slicing and ASN do not",
        "6, 6.2 (summary)",
        keeps_all_four,
    ),
    Claim("even", "SLPPA spreads attributes over tables more evenly", "6.1, Fig. 3", even),
    Claim(
        "sizes",
        "SLPPA's three tables of Adult have 2, 3 and 4 attributes",
        "6.1, Fig. 3a",
        sizes_of_adult,
    ),
    Claim(
        "division-time",
        "SLPPA takes slightly less time for table division than Slicing",
        "6.1, Fig. 2a, 2b",
        division_time,
        timed=True,
    ),
    Claim(
        "division-rows",
        "Table division takes longer with more rows, for both",
        "6.1, Fig. 2a, 2b",
        division_grows,
        timed=True,
    ),
    Claim(
        "division-falls",
        "SLPPA's table division gets faster with more tables",
        "6.1, Fig. 2c, 2d",
        division_falls,
        timed=True,
    ),
    Claim(
        "division-flat",
        "Slicing's table division takes the same time for any number of tables",
        "6.1, Fig. 2c, 2d",
        division_flat,
        timed=True,
    ),
    Claim(
        "time-slicing",
        "Slicing takes the most time for group division",
        "6.1, Fig. 4",
        group_time(
            ("SLPPA", "ASN"),
            ("Slicing",),
            "a compiled Mondrian is not slow, and where values cannot all differ, finding how many "
            "even groups keep β and δ takes longer",
        ),
        timed=True,
    ),
    Claim(
        "time-asn",
        "ASN takes the least time for group division",
        "6.1, Fig. 4",
        group_time(
            ("ASN",),
            ("SLPPA", "Slicing"),
            "its merging counts a table for every attribute, where the others have three",
        ),
        timed=True,
    ),
    Claim("most-groups", "ASN has the most groups", "6.1, Fig. 5a, 5b", most_groups),
    Claim(
        "more-groups",
        "SLPPA has more groups than Slicing when the data are large",
        "6.1, Fig. 5c, 5d",
        more_groups,
    ),
    Claim(
        "regular",
        "The number of SLPPA's groups grows regularly with the rows",
        "6.1, Fig. 5c, 5d",
        regular_groups,
    ),
    Claim(
        "fluctuates",
        "The number of Slicing's groups fluctuates more",
        "6.1, Fig. 5c, 5d",
        steadier,
    ),
    Claim("asn-recq", "ASN has the largest RECQ", "6.2, Fig. 6", asn_worst),
    Claim("slicing-recq", "Slicing has the smallest RECQ", "6.2, Fig. 6", slicing_best),
    Claim(
        "close",
        "SLPPA's RECQ is only a little larger than Slicing's: rows withheld",
        "6.2, Fig. 6",
        close_by(
            "withheld", "Slicing keeps most attributes, and so their joint counts, in one table"
        ),
    ),
    Claim(
        "close-all",
        "SLPPA's RECQ is only a little larger than Slicing's: all rows",
        "6.2, Fig. 6",
        close_by(
            "all rows",
            "20 distinct values are a far weaker demand than δ, and Mondrian's groups are of rows "
            "that are alike",
        ),
    ),
    Claim(
        "width", "RECQ grows with the number of QIs in the queries", "6.2, Fig. 6", grows_with_width
    ),
    Claim(
        "more-qis",
        "With more QIs in the table the order of the three is the same",
        "6.2, Fig. 7",
        more_attributes,
    ),
    Claim("alpha", "SLPPA with α = 0.05 is as good", "6.2, Fig. 8a, 8b, Table 8", alpha),
    Claim(
        "changes-slppa",
        "Other β, γ and δ make no obvious difference to RECQ of SLPPA",
        "6.2, Fig. 8, Table 8",
        unchanged("SLPPA"),
    ),
    Claim(
        "changes-asn",
        "Other β and γ make no obvious difference to RECQ of ASN",
        "6.2, Fig. 8, Table 8",
        unchanged("ASN"),
    ),
    Claim(
        "changes-slicing",
        "l = 10 makes no obvious difference to RECQ of Slicing",
        "6.2, Fig. 8, Table 8",
        unchanged("Slicing", "with l = 20 there is one group, with l = 10 Mondrian can cut"),
    ),
    Claim(
        "tables",
        "RECQ grows with the number of tables",
        "6.2, Fig. 9",
        grows_along("by tables", "tables"),
    ),
    Claim(
        "size",
        "RECQ grows with the size of groups (β from 0.25 down)",
        "6.2, Fig. 10",
        grows_along("by group size", "beta"),
    ),
    Claim(
        "absolute", "The seconds and errors of its figures", "Fig. 2 to 10", absolute, timed=True
    ),
)
