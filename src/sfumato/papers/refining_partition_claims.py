"""What the refining-partition paper claims, in our words."""

from __future__ import annotations

from sfumato.papers.claims import Claim
from sfumato.papers.refining_partition_judges import (
    CHANCE,
    NOISE,
    absolute_times,
    almost_alike,
    at_greatest,
    bounded,
    flat,
    grows,
    less,
    on_top,
    one_attribute,
    probability,
    queries,
    tailored,
    time_grows,
)

CLAIMS = (
    Claim(
        "probability",
        "Refining raises the mean probability that a person is assigned to their own value",
        "4.2",
        probability,
    ),
    Claim(
        "re",
        "RE of the refined partition is within 1 + r/(n(l − 1)) of its lower bound n(1 − 1/l), "
        "r being the rows left over",
        "4.3, Property 8",
        bounded,
    ),
    Claim(
        "aip-arp",
        "GLP of ARP is below that of AIP, for every l, n and number of NSAs",
        "5.1 to 5.3, Fig. 2, 4, 6",
        less("ARP", "AIP"),
    ),
    Claim(
        "ng-aip", "GLP of NG is below that of AIP", "5.1 to 5.3, Fig. 2, 4, 6", less("NG", "AIP")
    ),
    Claim(
        "arp-ng",
        "GLP of ARP and of NG are almost the same",
        "5.1 to 5.3, Fig. 2, 4, 6",
        almost_alike,
    ),
    Claim("at", "GLP of AT is always the greatest", "5.1 to 5.3, Fig. 2, 4, 6", at_greatest),
    Claim(
        "arp-at",
        "ARP keeps more than AT: its GLP is lower",
        "5.3, 6",
        less(
            "ARP",
            "AT",
            why_not="with few NSAs most groups of ARP are large, and those of AT are not",
        ),
    ),
    Claim(
        "by-l",
        "GLP grows with l, for all four",
        "5.1, Fig. 2",
        grows("by l", "l", "glp", slack=CHANCE),
    ),
    Claim(
        "by-n",
        "GLP falls with the number of rows, for all four",
        "5.2, Fig. 4",
        grows("by rows", "rows", "glp", falls=True, slack=CHANCE),
    ),
    Claim(
        "by-d",
        "GLP grows with the number of NSAs, for all four",
        "5.3, Fig. 6",
        grows("by attributes", "attributes", "glp", slack=CHANCE),
    ),
    Claim("one", "With one NSA, GLP of ARP, AIP and NG is 0", "5.3, Fig. 6", one_attribute),
    Claim(
        "on-top",
        "Refining works on top of any partition: it lowers the loss of Mondrian's and of the "
        "top-down greedy's too",
        "abstract, 1.2",
        on_top,
    ),
    Claim("counts", "So it does for COUNT queries, the usual measure", "5", queries),
    Claim(
        "tailored",
        "The correlation-ordered partition serves refining better than others",
        "abstract, 1.2",
        tailored,
    ),
    Claim(
        "time-ng",
        "ARP takes less time than NG",
        "5.1 to 5.3, Fig. 1, 3, 5",
        less("ARP", "NG", "seconds"),
        timed=True,
    ),
    Claim(
        "time-aip",
        "AIP takes less time than ARP",
        "5.1 to 5.3, Fig. 1, 3, 5",
        less("AIP", "ARP", "seconds", slack=NOISE),
        timed=True,
    ),
    Claim(
        "time-at",
        "AT takes less time than ARP",
        "5.1 to 5.3, Fig. 1, 3, 5",
        less("AT", "ARP", "seconds", slack=NOISE),
        timed=True,
    ),
    Claim(
        "time-l",
        "All take longer with a greater l",
        "5.1, Fig. 1",
        time_grows("l", "by l"),
        timed=True,
    ),
    Claim(
        "time-n",
        "All take longer with more rows",
        "5.2, Fig. 3",
        time_grows("rows", "by rows"),
        timed=True,
    ),
    Claim(
        "time-d", "AT takes the same time for any number of NSAs", "5.3, Fig. 5", flat, timed=True
    ),
    Claim(
        "seconds",
        "The methods take the seconds of its figures",
        "Fig. 1, 3, 5",
        absolute_times,
        timed=True,
    ),
)
