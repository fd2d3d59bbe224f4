"""What the LGB paper claims, in our words."""

from __future__ import annotations

from sfumato.papers import lgb_error_judges as error_judges
from sfumato.papers import lgb_judges as judges
from sfumato.papers.claims import Claim

CLAIMS = (
    Claim(
        "guarantees",
        "Groups of k rows and buckets of l different values keep k-anonymity and l-diversity, each "
        "without weakening the other",
        "2.2, Corollary 3",
        judges.keeps,
    ),
    Claim(
        "c-dm-l",
        "Groups do not depend on l: C_DM is the same for all of them",
        "4.1, Fig. 5",
        judges.same_for_all_l,
    ),
    Claim("c-dm", "C_DM of MDP is much lower than that of NCP", "4.1, Fig. 5", judges.lower_c_dm),
    Claim("ncp", "NCP of NCP is below that of MDP", "4.1, Fig. 6", judges.lower_ncp),
    Claim("gain", "It is below by about 14 to 17 %", "4.1, Fig. 6", judges.size_of_gain),
    Claim(
        "both",
        "NCP has the smaller NCP though its groups are less even (its C_DM is larger)",
        "4.1",
        judges.both_at_once,
    ),
    Claim("error-k", "R_error grows with k", "4.2, Fig. 7", error_judges.grows_with_k),
    Claim("error-l", "R_error grows with l", "4.2, Fig. 7", error_judges.grows_with_l),
    Claim("k-l", "k has more influence on R_error than l", "4.2, Fig. 7", error_judges.more_by_k),
    Claim(
        "error-mdp",
        "While l is small, MDP has lower R_error than NCP",
        "4.2, Fig. 7",
        error_judges.lower_error,
    ),
    Claim("closer", "As l grows, the two come closer", "4.2, Fig. 7", error_judges.closer),
    Claim("equal", "For large l they are very equal", "4.2, Fig. 7", error_judges.equal_at_last),
    Claim(
        "bounds",
        "The two ends of the interval are bounds of the true sum",
        "4.2",
        error_judges.inside,
    ),
    Claim(
        "density",
        "R_error of MDP falls as more cells are flagged, from 10 to 40 %",
        "4.3, Fig. 8",
        error_judges.falls_with_density,
    ),
    Claim(
        "density-most",
        "It falls most at 40 %, with the largest k and l",
        "4.3, Fig. 8",
        error_judges.most_reduction,
    ),
    Claim(
        "open",
        "The reason: values are specific in buckets and indistinguishable in groups, so that a "
        "bucket leaves fewer values of a cell open",
        "4.3",
        error_judges.tells_more,
    ),
    Claim("heights", "The heights of its curves", "4, Fig. 5 to 8", judges.figures_alone),
)
