"""Runs in the peers' own environment: one naive version, or one peer, on one table.

    python peer_run.py NAME DATA.csv PLAN.json

prints one line of JSON: seconds, processor seconds and the memory peak of the call alone, rows that
came out, and C_DM. NAME is a module of `naive/`, `anonypy` or `pycanon` (which only checks).
"""

import importlib
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def _status(key: str) -> int:
    """Return a count of this process in bytes; a child's usual peak is that of its parent."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"the system does not count {key}")


def main() -> None:
    """Print the measurements of one run."""
    name, source, plan = sys.argv[1], sys.argv[2], json.loads(Path(sys.argv[3]).read_text())
    data = pd.read_csv(source, keep_default_na=False)
    quasi_identifiers, sensitive = plan["quasi_identifiers"], plan["sensitive"]
    found: dict[str, object] = {"case": name, "version": None}
    if name == "anonypy":
        import anonypy

        texts = [n for n in quasi_identifiers if data[n].dtype == object]
        for each in texts:
            data[each] = data[each].astype("category")
        found["version"] = version("anonypy")

        def call() -> object:
            return anonypy.Preserver(data, quasi_identifiers, sensitive).anonymize_k_anonymity(k=10)
    elif name == "pycanon":
        from pycanon import anonymity

        found["version"] = version("pycanon")

        def call() -> object:
            return anonymity.k_anonymity(data, quasi_identifiers)
    else:
        publish = importlib.import_module(f"benchmarks.naive.{name}").publish

        def call() -> object:
            return publish(data, quasi_identifiers, sensitive)

    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # start a new peak
    start, processor = time.perf_counter(), time.process_time()
    result = call()
    found["total_seconds"] = time.perf_counter() - start
    found["processor_seconds"] = time.process_time() - processor
    found["peak_bytes"] = _status("VmHWM") - before
    found["rows"] = len(data)
    if name not in ("anonypy", "pycanon"):
        found["c_dm"] = sum(len(group) ** 2 for group in result)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
