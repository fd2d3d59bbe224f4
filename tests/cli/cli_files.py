"""The policy file of the command line tests, and the secret in their cells."""

from __future__ import annotations

from pathlib import Path

SECRET = "SECRET-7f3a"


def write_policy(
    folder: Path, method: str = "{name: mondrian, k: 3}", more: str = "", **attributes: str
) -> None:
    """Write `policy.yaml`; an attribute that is given as an empty text is left out."""
    roles = {
        "name": "{role: identifier}",
        "age": "{role: quasi-identifier}",
        "sex": "{role: quasi-identifier}",
        "disease": "{role: sensitive, l: 2}",
        **attributes,
    }
    lines = ["attributes:", *(f"  {name}: {keys}" for name, keys in roles.items() if keys)]
    (folder / "policy.yaml").write_text("\n".join([*lines, f"method: {method}", more]) + "\n")
