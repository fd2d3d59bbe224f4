"""A small table and a policy for it, in files."""

from __future__ import annotations

from pathlib import Path

import pytest

DISEASES = ("Flu", "Fever", "HIV", "Angina", "Asthma")


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Forty people with five diseases in equal numbers."""
    rows = [
        f"P{n},{20 + n % 23},{'FM'[n % 2]},{13000 + 7 * n % 90},{DISEASES[n % 5]},{1000 + 50 * n}"
        for n in range(40)
    ]
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(["name,age,sex,zip,disease,income", *rows]) + "\n")
    return path


@pytest.fixture
def policy(tmp_path: Path):
    """Return a maker of policy files for the patients; keywords change sections and attributes."""

    def make(method: str = "{name: mondrian, k: 4}", more: str = "", **attributes: str) -> Path:
        roles = {
            "name": "{role: identifier}",
            "age": "{role: quasi-identifier}",
            "sex": "{role: quasi-identifier}",
            "zip": "{role: quasi-identifier, kind: categorical, hierarchy: {mask: right}}",
            "disease": "{role: sensitive, l: 3}",
            "income": "{role: insensitive}",
            **attributes,
        }
        lines = ["attributes:", *(f"  {name}: {keys}" for name, keys in roles.items() if keys)]
        path = tmp_path / "policy.yaml"
        path.write_text("\n".join([*lines, f"method: {method}", more]) + "\n")
        return path

    return make
