"""`python -m tests.mutations [--seeds N] [--start N]`: the full count, exit 1 if any went wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutations.check import run


def main() -> int:
    """Run the check and print what came of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seeds", type=int, default=400, help="how many releases to change")
    asked.add_argument("--start", type=int, default=0, help="the first seed")
    options = asked.parse_args()
    count = run(range(options.start, options.start + options.seeds))
    print(f"broken by the oracle and caught: {count.caught.total()} {dict(count.caught)}")
    print(f"sound by the oracle and passed: {count.passed.total()} {dict(count.passed)}")
    print(f"undecided by the oracle: {count.undecided.total()} {dict(count.undecided)}")
    print(f"changes tried: {dict(sorted(count.by_change.items()))}")
    for name, cases in (("SLIPPED THROUGH", count.slipped), ("WRONGLY REFUSED", count.refused)):
        print(f"{name}: {len(cases)}")
        for case in cases:
            print(f"  {case[:400]}")
    return 1 if count.slipped or count.refused else 0


if __name__ == "__main__":
    sys.exit(main())
