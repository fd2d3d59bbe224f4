"""The whole error tree.

A message says what is wrong, where, and what to do next, in names of columns and in counts. It
never holds a cell value, a row, or a seed: messages end up in logs, and logs get shared.
"""

from __future__ import annotations


class SfumatoError(Exception):
    """Anything that sfumato refuses or finds wrong; the command line shows it as one line."""


class InputError(SfumatoError):
    """A file, folder or frame that cannot be read as a table."""


class SchemaError(SfumatoError):
    """A schema or policy that is wrong in itself or does not fit the table."""


class HierarchyError(SfumatoError):
    """A generalisation hierarchy that is malformed or does not cover its attribute."""


class ParameterError(SfumatoError):
    """A parameter outside its range, or one that the chosen method does not have."""


class Infeasible(SfumatoError):  # noqa: N818 -- reads as a verdict, and is one
    """No release of this table can meet the request; the message says what would be feasible."""


class ClaimBroken(SfumatoError):  # noqa: N818 -- the audit's "no"
    """A release whose published files contradict a guarantee in its manifest."""


class ReleaseDamaged(SfumatoError):  # noqa: N818 -- a state, not a fault of the caller
    """A release folder that is incomplete, inconsistent, altered, or of an unknown format."""


class EngineUnavailable(SfumatoError):  # noqa: N818 -- a state, not a fault of the caller
    """An engine or optional part that is not installed or cannot do what was asked."""


def place_of(error: BaseException) -> str:
    """Return where in sfumato an unexpected error arose: the module and line, no more.

    Its message and traceback may quote cells, so they are shown to nobody.
    """
    place, trace = "an unknown place", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("sfumato."):
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
