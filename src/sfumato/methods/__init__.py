"""Publishing methods: each scheme as a short composition of makers, in one visible registry."""

from __future__ import annotations

from sfumato.methods.anatomy import Anatomy
from sfumato.methods.lgb import LGB
from sfumato.methods.method import Method
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.top_down import TopDown

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Mondrian, TopDown, Anatomy, LGB)
}

__all__ = ["LGB", "METHODS", "Anatomy", "Method", "Mondrian", "TopDown"]
