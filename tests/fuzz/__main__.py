"""`python -m tests.fuzz [TARGET …] [--cases N]`: feed random input; a fault is shown and saved.

With atheris (the extra `fuzz`) each target is fuzzed in a process of its own, guided by coverage;
without it by random changes of good files. N is a number of cases a target.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

from fuzz.mutate import changed  # noqa: E402 -- the tests' own folder had to be made known first
from fuzz.targets import TARGETS, Target  # noqa: E402


def plainly(target: Target, cases: int, seed: int, faults: Path) -> int:
    """Feed so many changed files; return how many came out as faults."""
    rng, seeds, bad = random.Random(f"{target.name} {seed}"), target.seeds(), 0
    for _ in range(cases):
        content = changed(rng, rng.choice(seeds))
        try:
            if target.try_(content) and len(seeds) < 500:
                seeds.append(content)
        except Exception as error:
            bad += 1
            faults.mkdir(parents=True, exist_ok=True)
            file = faults / f"{target.name}-{hashlib.sha256(content).hexdigest()[:12]}"
            file.write_bytes(content)
            print(f"{target.name}: {type(error).__name__} ({file})", flush=True)
    return bad


def guided(name: str, cases: int, faults: Path) -> int:
    """Fuzz a target with atheris in a process of its own; return 1 if it found a fault."""
    corpus = faults / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for place, content in enumerate(TARGETS[name].seeds()):
        (corpus / f"seed-{place}").write_bytes(content)
    command = [sys.executable, "-m", "fuzz.guided", name, f"-runs={cases}", "-max_len=20000"]
    command += ["-timeout=60", "-rss_limit_mb=6000", f"-artifact_prefix={faults}/{name}-"]
    done = subprocess.run([*command, str(corpus)], cwd=HERE, check=False)
    return int(done.returncode != 0)


def main() -> int:
    """Fuzz the targets, and say how many cases there were."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("targets", nargs="*", choices=[*TARGETS, []], help="all without any")
    asked.add_argument("--cases", type=int, default=150_000, help="cases a target")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--plain", action="store_true", help="without atheris")
    asked.add_argument("--faults", type=Path, default=Path(".artifacts/fuzz"))
    options = asked.parse_args()
    names, bad = options.targets or list(TARGETS), 0
    with_atheris = find_spec("atheris") is not None and not options.plain
    for name in names:
        began = time.monotonic()
        if with_atheris:
            bad += guided(name, options.cases, options.faults.resolve())
        else:
            bad += plainly(TARGETS[name], options.cases, options.seed, options.faults)
        print(f"{name}: {options.cases:,} cases in {time.monotonic() - began:.0f} s", flush=True)
    how = "guided by coverage" if with_atheris else "by random changes"
    print(f"{options.cases * len(names):,} cases {how}, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
