"""Questions that were asked: each is answered in the background, so that no page waits for long."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sfumato.markup import Html

_MOST: Final = 16
_PATIENCE: Final = 0.7  # seconds for which a page waits for an answer before it shows itself

Answer = list[Html]


@dataclass(frozen=True, slots=True)
class Question:
    """What a form asked of a run's release, and its answer once it is there."""

    id: str
    run: Path
    fields: Mapping[str, str]
    began: float = field(default_factory=time.monotonic)
    answer: Future[Answer] = field(default_factory=Future)

    @property
    def seconds(self) -> float:
        """How long ago it was asked."""
        return time.monotonic() - self.began


class Questions:
    """The questions that were asked last."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self.patience = patience
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Question] = OrderedDict()

    def ask(self, run: Path, fields: Mapping[str, str], work: Callable[[], Answer]) -> Question:
        """Return a question whose answer `work` is finding; after a moment it may be there."""
        question = Question(secrets.token_hex(8), run, fields)
        with self._lock:
            self._kept[question.id] = question
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        threading.Thread(target=_find, args=(question, work), daemon=True).start()
        wait([question.answer], self.patience)
        return question

    def asked(self, id: str, run: Path) -> Question | None:
        """Return a question to a run by its id; None once it is forgotten."""
        with self._lock:
            found = self._kept.get(id)
        return found if found is not None and found.run == run else None


def _find(question: Question, work: Callable[[], Answer]) -> None:
    try:
        question.answer.set_result(work())
    except BaseException as error:
        question.answer.set_exception(error)
