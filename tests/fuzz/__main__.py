"""`python -m tests.fuzz [TARGET …] [--cases N]`: feed random input; a fault is shown and saved.

N is the number of cases of all targets together, which each get their share of. Nine in ten are
guided by coverage with atheris (the extra `fuzz`), each target in a process of its own, or are
random changes of good files where it is not installed; the tenth are of the right shape, by
Hypothesis. What is printed are cases that were run, not those that were asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

from fuzz.mutate import changed  # noqa: E402 -- the tests' own folder had to be made known first
from fuzz.structured import STRATEGIES  # noqa: E402
from fuzz.targets import TARGETS, Target  # noqa: E402

Outcome = tuple[int, int]  # cases that were run, and faults
SHAPED = 0.1


def plainly(target: Target, cases: int, number: int, faults: Path) -> Outcome:
    """Feed so many changed files."""
    rng, seeds, bad = random.Random(f"{target.name} {number}"), target.seeds(), 0
    for _ in range(cases):
        content = changed(rng, rng.choice(seeds))
        try:
            if target.try_(content) and len(seeds) < 500:
                seeds.append(content)
        except Exception as error:
            bad += 1
            _save(target, content, error, faults)
    return cases, bad


def shaped(target: Target, cases: int, number: int, faults: Path) -> Outcome:
    """Feed so many inputs of the right shape; what fails is made as small as can be."""
    tried = 0
    last = b""

    @seed(number)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(STRATEGIES[target.name]())
    def feed(content: bytes) -> None:
        nonlocal tried, last
        tried, last = tried + 1, content
        target.try_(content)

    try:
        feed()
    except Exception as error:
        _save(target, last, error, faults)
        return tried, 1
    return tried, 0


def guided(target: Target, cases: int, number: int, faults: Path) -> Outcome:
    """Fuzz a target with atheris in a process of its own, which ends at the first fault."""
    corpus = faults / "corpus" / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    choices = [b"\xff" + random.Random(n).randbytes(400) for n in range(8)]
    for place, content in enumerate([*target.seeds(), *choices]):
        (corpus / f"seed-{place}").write_bytes(content)
    command = [sys.executable, "-m", "fuzz.guided", target.name, f"-runs={cases}"]
    command += ["-max_len=20000", "-timeout=60", "-rss_limit_mb=6000"]
    command += [f"-artifact_prefix={faults}/{target.name}-", f"-seed={number + 1}"]
    log = faults / f"{target.name}-guided.log"
    with log.open("wb") as out:
        ended = subprocess.run(
            [*command, str(corpus)], cwd=HERE, stderr=out, stdout=out, check=False
        )
    told = log.read_text("utf-8", "replace")
    counts = re.findall(r"^Done (\d+) runs|^#(\d+)\t", told, re.MULTILINE)
    if ended.returncode:
        print(told[-3000:], flush=True)
    return int("".join(counts[-1])) if counts else 0, int(ended.returncode != 0)


def _save(target: Target, content: bytes, error: Exception, faults: Path) -> None:
    file = faults / f"{target.name}-{hashlib.sha256(content).hexdigest()[:12]}"
    file.write_bytes(content)
    print(f"{target.name}: {type(error).__name__} ({file})", flush=True)


def main() -> int:
    """Fuzz the targets, and say how many cases there were."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("targets", nargs="*", choices=[*TARGETS, []], help="all without any")
    asked.add_argument("--cases", type=int, default=1_100_000, help="of all targets together")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--only", choices=("guided", "plain", "shaped"), help="one way of three")
    asked.add_argument("--faults", type=Path, default=Path(".artifacts/fuzz"))
    options = asked.parse_args()
    chosen = [TARGETS[name] for name in options.targets or TARGETS]
    faults = options.faults.resolve()
    faults.mkdir(parents=True, exist_ok=True)
    by_bytes = guided if find_spec("atheris") is not None else plainly
    ways = {"guided": {guided: 1.0}, "plain": {plainly: 1.0}, "shaped": {shaped: 1.0}}
    parts = ways.get(options.only, {by_bytes: 1 - SHAPED, shaped: SHAPED})
    total = bad = 0
    for target in chosen:
        share = target.share / sum(each.share for each in chosen)
        for way, part in parts.items():
            began = time.monotonic()
            count, wrong = way(target, round(options.cases * share * part), options.seed, faults)
            total, bad = total + count, bad + wrong
            spent = time.monotonic() - began
            print(f"{target.name}, {way.__name__}: {count:,} cases in {spent:.0f} s", flush=True)
    print(f"{total:,} cases, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
