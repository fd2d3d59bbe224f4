"""Runs in the peers' own environment: anjana's k-anonymity, timing nothing but the call.

    python anjana_peer.py PLAN.json DATA.csv

Each line on standard input asks for one run; each answer is a line of JSON. See `peers.py`.
"""

import contextlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity


def main() -> None:
    """Answer requests until standard input ends."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    data = pd.read_csv(sys.argv[2], keep_default_na=False)
    names = plan["quasi_identifiers"]
    for _ in sys.stdin:
        hierarchies = {
            name: {level: pd.Series(values) for level, values in enumerate(levels)}
            for name, levels in plan["levels"].items()
        }
        with contextlib.redirect_stdout(sys.stderr):
            start, processor = time.perf_counter(), time.process_time()
            result = k_anonymity(data, [], names, plan["k"], plan["suppression"], hierarchies)
            seconds = time.perf_counter() - start
            used = time.process_time() - processor
        smallest = int(result.groupby(names).size().min()) if len(result) else 0
        answer = {
            "version": version("anjana"),
            "seconds": seconds,
            "processor_seconds": used,
            "k": smallest,
            "rows": len(result),
            "cells": {
                name: {str(label): int(n) for label, n in result[name].value_counts().items()}
                for name in names
                if len(result)
            },
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
