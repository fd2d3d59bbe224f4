"""What the sensitive-QID paper claims, in our words."""

from __future__ import annotations

from sfumato.papers import sensitive_qid_judges as judges
from sfumato.papers.claims import Claim

CLAIMS = (
    Claim(
        "confidence",
        "Who knows other values of a person gives their own value a confidence of 1/l at most",
        "V, Example 4",
        judges.confidence,
    ),
    Claim(
        "lowest-l",
        "For l, bayes has lower L1, L2 and Hellinger distances than ValueAdding, Rating and Random",
        "VI, Fig. 1, 2",
        judges.lowest("by l", "value-adding", "rating", "random"),
    ),
    Claim(
        "lowest-t",
        "For t likewise, than ValueAdding and Random",
        "VI, Fig. 3, 4",
        judges.lowest("by t", "value-adding", "random"),
    ),
    Claim("by-l", "Distances of bayes grow with l", "VI, Fig. 1, 2", judges.along("by l")),
    Claim(
        "by-t",
        "Distances of bayes fall as t grows",
        "VI, Fig. 3, 4",
        judges.along("by t", falls=True),
    ),
    Claim("small", "They are small even for t = 0.1", "VI, Fig. 3, 4", judges.small),
    Claim("alike", "ValueAdding and Rating give similar results", "VI", judges.alike),
    Claim(
        "half-l",
        "While l is small, ValueAdding and Rating are about half as far as Random",
        "VI, Fig. 1, 2",
        judges.half("by l", "value-adding", "rating"),
    ),
    Claim(
        "half-t",
        "While t is large, ValueAdding is about half as far as Random",
        "VI, Fig. 3, 4",
        judges.half("by t", "value-adding"),
    ),
    Claim(
        "entropy",
        "Entropy diversity gives results similar to those of frequency diversity",
        "VI",
        judges.variants,
    ),
    Claim(
        "publishing",
        "Publishing takes less time than by Rating",
        "VI, Fig. 5",
        judges.rating_slower,
        timed=True,
    ),
    Claim(
        "tens",
        "2,458,285 records with 68 attributes take tens of seconds",
        "VI, Fig. 5",
        judges.tens_of_seconds,
        timed=True,
    ),
    Claim(
        "reading",
        "Reconstructing takes longer than by ValueAdding and Rating",
        "VI, Fig. 6",
        judges.reading_slower,
        timed=True,
    ),
    Claim(
        "minutes",
        "Reconstructing takes less than 10 minutes, even for q′ = 4",
        "VI, Fig. 6",
        judges.within_minutes,
        timed=True,
    ),
    Claim(
        "sum", "Reconstructed counts sum to the number of records", "VI, Fig. 7", judges.same_sum
    ),
    Claim(
        "perfect",
        "bayes reconstructs age by occupation almost perfectly (l = 5)",
        "VI, Fig. 7",
        judges.nearly_perfect,
    ),
    Claim(
        "flattened",
        "ValueAdding and Rating give too little where the truth is above average, and vice versa",
        "VI, Fig. 7",
        judges.flattened,
    ),
    Claim(
        "steps",
        "Steps are repeated until they are sufficiently small",
        "V-D2",
        judges.sufficiently,
    ),
)
