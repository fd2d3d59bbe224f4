"""What the Merging paper claims, and where."""

from __future__ import annotations

from sfumato.papers.claims import Claim
from sfumato.papers.merging_judges import (
    ALMOST,
    LITERAL,
    OTHERS,
    OURS,
    absolute,
    best_learned,
    dp_last,
    fakes,
    grows_with_people,
    keeps_l,
    learnable,
    least_error,
    least_loss,
    like_hybrid,
    risk_below,
    scales,
)

CLAIMS = (
    Claim(
        "dp-risk",
        "ε-DP has the lowest risk of all, Merging as published",
        "5.2, Fig. 1 to 4",
        risk_below("DP", (LITERAL, *OTHERS[:-1]), ""),
    ),
    Claim(
        "dp-risk-collapse",
        "ε-DP has a lower risk than Merging as here",
        "5.2, Fig. 1 to 4",
        risk_below(
            "DP", (OURS,), "with l = 6 on occupation `collapse` leaves classes as coarse as DP's"
        ),
    ),
    Claim(
        "risk",
        "Merging, as published, has a lower risk than Mondrian, Composition and Probabilistic",
        "5.2, Fig. 1 to 4",
        risk_below(LITERAL, OTHERS[:3], "exact values match better than ranges"),
    ),
    Claim(
        "risk-collapse",
        "Merging, as here, has a lower risk than Mondrian, Composition and Probabilistic",
        "5.2, Fig. 1 to 4",
        risk_below(
            OURS, OTHERS[:3], "where only l distinct values can be asked for, classes stay small"
        ),
    ),
    Claim(
        "hybrid",
        "Merging, as published, has almost the risk of Hybrid",
        "5.2, Fig. 1 to 4",
        like_hybrid(LITERAL, f"more than {ALMOST:.0%} apart"),
    ),
    Claim(
        "hybrid-collapse",
        "Merging, as here, has almost the risk of Hybrid",
        "5.2, Fig. 1 to 4",
        like_hybrid(OURS, f"more than {ALMOST:.0%} apart; below it where it is less"),
    ),
    Claim(
        "people",
        "The risk grows with the number of people whom two sets share",
        "5.2, Fig. 1 to 4",
        grows_with_people,
    ),
    Claim(
        "keeps-l",
        "Merging, as published, leaves l values in the intersection of two releases",
        "6",
        keeps_l(
            LITERAL,
            "nothing in it looks at other releases: two small classes seldom share more than a "
            "person's own value",
        ),
    ),
    Claim(
        "keeps-l-collapse",
        "Merging, as here, leaves l values in the intersection of two releases",
        "6",
        keeps_l(
            OURS,
            "`collapse` bounds the chance that one value is left, not that fewer than l are; "
            "`--against` keeps l",
        ),
    ),
    Claim("loss", "Merging, as published, loses least data", "5.3.1, Fig. 5", least_loss(LITERAL)),
    Claim("loss-collapse", "Merging, as here, loses least data", "5.3.1, Fig. 5", least_loss(OURS)),
    Claim(
        "queries",
        "Merging, as published, has the smallest error of counts",
        "5.3.2, Fig. 6",
        least_error(LITERAL, "mean", ""),
    ),
    Claim(
        "queries-collapse",
        "Merging, as here, has the smallest error of counts",
        "5.3.2, Fig. 6",
        least_error(OURS, "mean", "its classes on occupation are larger than Mondrian's"),
    ),
    Claim("fakes", "The fakes do not hurt the counts", "4.1.1, 5.3.2", fakes),
    Claim(
        "learnable-sensitive",
        "Education is learned from the originals (33 % right)",
        "5.3.3, Table 10",
        learnable(
            "sensitive",
            "the paper has 33 from the originals",
            "33 % is what always the commonest value gives: its tree had learned nothing",
        ),
    ),
    Claim(
        "learn-sensitive",
        "Learning education, Merging, as published, is best",
        "5.3.3, Table 10, Fig. 7",
        best_learned(LITERAL, "sensitive", ""),
    ),
    Claim(
        "learnable-other",
        "Relationship is learned from the originals (40 % right)",
        "5.3.3, Table 11",
        learnable(
            "other",
            "the paper has 40 from the originals, which is what always the commonest value gives",
            "a tree is not better than that here either",
        ),
    ),
    Claim(
        "learn-other",
        "Learning relationship, Merging, as published, is best",
        "5.3.3, Table 11, Fig. 8",
        best_learned(LITERAL, "other", ""),
    ),
    Claim(
        "learn-other-collapse",
        "Learning relationship, Merging, as here, is best",
        "5.3.3, Table 11, Fig. 8",
        best_learned(OURS, "other", ""),
    ),
    Claim("dp-last", "Trees learn least from ε-DP", "5.3.3, Tables 10, 11", dp_last),
    Claim("time", "Merging scales well with the rows", "5.4, Fig. 9; 4.2.3", scales, timed=True),
    Claim("absolute", "The numbers of its figures", "Fig. 1 to 9", absolute),
)
