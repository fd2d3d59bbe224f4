"""Publishing methods: each scheme as a short composition of makers, in one visible registry."""

from __future__ import annotations

from sfumato.methods.anatomy import Anatomy
from sfumato.methods.method import Method
from sfumato.methods.mondrian import Mondrian

METHODS: dict[str, type[Method]] = {method.name: method for method in (Mondrian, Anatomy)}

__all__ = ["METHODS", "Anatomy", "Method", "Mondrian"]
