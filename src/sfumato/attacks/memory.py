"""What attacks share: whatever one of them finds out is found out once, and kept for the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any


class Memory:
    """Things by key, each made by whoever asks for it first; who asks meanwhile waits for it.

    >>> memory = Memory()
    >>> memory.of("answer", lambda: 6 * 7), memory.of("answer", lambda: 0)
    (42, 42)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._things: dict[Hashable, Future[Any]] = {}

    def of(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what was made under the key, or make it; what fails, fails for all who ask."""
        with self._lock:
            thing = self._things.get(key)
            is_first = thing is None
            if thing is None:
                thing = self._things[key] = Future()
        if is_first:
            try:
                thing.set_result(make())
            except BaseException as error:
                thing.set_exception(error)
        return thing.result()
