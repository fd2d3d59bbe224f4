"""Modules that are installed on demand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import EngineUnavailable


def reader(module: str, extra: str, what: str) -> Any:
    """Return the module that reads such files.

    Refuses (EngineUnavailable) to go on without it; the message has the command that installs it.

    >>> reader("no_such_reader", "excel", "Excel files")
    Traceback (most recent call last):
    ...
    sfumato.errors.EngineUnavailable: Excel files are read by no_such_reader, which is not \
installed: `pip install 'sfumato[excel]'`
    """
    try:
        return import_module(module)
    except ImportError:
        raise EngineUnavailable(
            f"{what} are read by {module}, which is not installed: `pip install 'sfumato[{extra}]'`"
        ) from None
