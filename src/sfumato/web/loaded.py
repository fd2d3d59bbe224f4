"""Releases that are asked about: each is read once, and the last few are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sfumato.errors import InputError
from sfumato.web.runs import Run
from sfumato.web.work.names import RELEASE

if TYPE_CHECKING:
    from sfumato.answers import Answerer
    from sfumato.release import Release

_MOST: Final = 2  # one of a million rows takes some hundred megabytes


@dataclass(frozen=True, slots=True)
class Loaded:
    """A release in memory; whoever asks holds `turn`, so that questions come one by one."""

    release: Release
    answerer: Answerer
    turn: threading.Lock = field(default_factory=threading.Lock)


class Shelf:
    """The releases that were asked about last."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Path, Future[Loaded]] = OrderedDict()

    def fetch(self, run: Run) -> None:
        """Begin to read what a run published, for whoever asks soon."""
        self._future(run)

    def take(self, run: Run) -> Loaded:
        """Return what a run published; wait while it is read.

        Refuses (SfumatoError) a release that cannot be read.
        """
        return self._future(run).result()

    def forget(self, run: Run) -> None:
        """Drop what a run published, since it is removed."""
        with self._lock:
            self._kept.pop(run.folder, None)

    def _future(self, run: Run) -> Future[Loaded]:
        with self._lock:
            known = self._kept.get(run.folder)
            if known is not None:
                self._kept.move_to_end(run.folder)
                return known
            future: Future[Loaded] = Future()
            self._kept[run.folder] = future
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        threading.Thread(target=self._read, args=(run, future), daemon=True).start()
        return future

    def _read(self, run: Run, future: Future[Loaded]) -> None:
        try:
            # here and not above: the engines take seconds to load, and most pages need none
            from sfumato.answers import Answerer
            from sfumato.release import Release

            folder = run.folder / RELEASE
            if not folder.is_dir():
                raise InputError("this run published nothing that could be asked")
            release = Release.load(folder)
            loaded = Loaded(release, Answerer(release))
        except BaseException as error:
            self.forget(run)  # the next one tries again
            future.set_exception(error)
            return
        with loaded.turn:
            future.set_result(loaded)
            _warm_up(loaded)


def _warm_up(loaded: Loaded) -> None:
    """Ask something, so that what answers is loaded (and compiled, the first time) beforehand."""
    from sfumato.answers import Count, Query

    names = tuple(each.name for each in loaded.release.manifest.attributes[:1])
    with suppress(Exception):  # whoever asks will be told
        loaded.answerer.query(Query(Count(), names))
