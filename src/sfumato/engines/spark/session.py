"""The Spark session that a run works in: the one that is there, or one of its own."""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import EngineUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    "spark.app.name": "sfumato",
    # a page on an open port that lists what was run: nobody asked for it
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Spark limits the addresses of Python workers, not what they use: allocators that set aside a
    # gigabyte and more of them at once would need a limit several times too high
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    "spark.executorEnv.MALLOC_ARENA_MAX": "2",
}
# the driver talks to executors on this machine alone
_ON_THIS_MACHINE = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


@contextmanager
def spark_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Yield the session that is active, or one of its own, which is stopped at the end.

    `master` is where Spark runs, by default all cores of this machine; the active session is taken
    only if none is named. `settings` win over those of this module.

    Refuses (EngineUnavailable) to go on without PySpark or Java, and where no session can start.
    """
    refuse_missing()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None and master in (None, active.sparkContext.master):
        yield active
        return
    if active is not None:
        raise EngineUnavailable(
            "a Spark session with another master is active in this process; stop it, or leave out "
            "the master"
        )
    session = _started(master or "local[*]", dict(settings or {}))
    try:
        yield session
    finally:
        stop(session)


def refuse_missing() -> None:
    """Refuse (EngineUnavailable) to go on without PySpark or Java."""
    if find_spec("pyspark") is None:
        raise EngineUnavailable(
            "--engine spark needs PySpark, which is not installed: `pip install 'sfumato[spark]'`"
        )
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else None
    if (java is None or not java.is_file()) and shutil.which("java") is None:
        raise EngineUnavailable(
            "--engine spark needs Java 17 or newer, which is not found: install it (Debian: "
            "`apt-get install openjdk-17-jre-headless`) or set JAVA_HOME"
        )


def stop(session: SparkSession) -> None:
    """Stop a session, and the Java process that it was started with.

    PySpark keeps that process for the next session, whose settings it would then ignore.
    """
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    session.stop()
    if gateway is None:
        return
    gateway.shutdown()
    process = gateway.proc
    process.stdin.close()  # at which it ends
    process.wait(timeout=30)
    SparkContext._gateway = None
    SparkContext._jvm = None


def _started(master: str, settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(master)
    here = _ON_THIS_MACHINE if master.startswith("local") else {}
    for key, value in {**_SETTINGS, **here, **settings}.items():
        builder = builder.config(key, value)
    # what goes wrong between the two processes is told by an exception; these would quote it
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    with _python_named(), _quiet():
        try:
            session: SparkSession = builder.getOrCreate()
        except Exception as error:
            raise EngineUnavailable(
                f"Spark does not start at {master} ({type(error).__name__}): is Java 17 or newer "
                "installed, and is the cluster there?"
            ) from None
    session.sparkContext.setLogLevel(settings.get("spark.log.level", "ERROR"))
    return session


@contextmanager
def _python_named() -> Iterator[None]:
    """Have workers run the Python that runs here, unless the environment names one."""
    given = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = given or sys.executable
    try:
        yield
    finally:
        if given is None:
            del os.environ["PYSPARK_PYTHON"]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Java says at its start, and for as long as it runs, off the terminal.

    The Java process inherits the standard error of the moment at which it is started.
    """
    with suppress(ValueError, OSError):
        sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # a process without one
        yield
        return
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silence, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(silence)
