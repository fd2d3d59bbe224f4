"""The key of a project's pseudonyms: made once, kept apart from releases, read by runs alone."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from sfumato.jobs.policy import Policy
from sfumato.jobs.seeds import key_of
from sfumato.web.runs import Run

FILE: Final = Path("private") / "pseudonyms.key"
_BYTES: Final = 32


def needs_key(policy: Policy) -> bool:
    """Whether a policy publishes tokens in place of an identifier."""
    return any(attribute.pseudonym for attribute in policy.content.attributes.values())


def project_key(run: Run) -> bytes | None:
    """Return the key of the run's project, made where there is none; None without pseudonyms.

    Refuses (SfumatoError) a file in its place that is no key.
    """
    if not needs_key(Policy.load(run.policy)):
        return None
    path = run.folder.parent.parent / FILE
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_BYTES))
    return key_of(path)[0]


def passing_key(run: Run) -> bytes | None:
    """Return a key for tokens that nobody keeps; None without pseudonyms."""
    return secrets.token_bytes(_BYTES) if needs_key(Policy.load(run.policy)) else None
