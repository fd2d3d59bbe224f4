"""The one form of a job: tasks hand out rows by bucket, and each bucket is worked on as a whole.

Rows travel as Arrow's own bytes, which Spark neither reads nor counts as values. Nothing that the
driver gets back is data: results are summaries, and a refusal of sfumato is a result as well, so
that Spark does not try again what must fail again. Any other failure is told by its place alone,
since messages and tracebacks may quote cells.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from sfumato.errors import EngineUnavailable, SfumatoError, place_of

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

Result = TypeVar("Result")
# What a task is given, and what it hands out: rows, each with the bucket that they belong to.
HandOut = Callable[[int], Iterator[tuple[int, pa.Table]]]
WorkOn = Callable[[int, Iterator[pa.Table]], Result]

# the only words of a failed task that are passed on: those of `_guarded`
_FAILURE = re.compile(r"RuntimeError: (\w+ at sfumato\.[\w.]+:\d+|a worker ran out of memory)")
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """An error of sfumato on its way to the driver."""

    error: SfumatoError


def each_task(session: SparkSession, tasks: int, work: Callable[[int], Result]) -> list[Result]:
    """Return the result of each task, in their order; results are small."""
    context = session.sparkContext

    def run(numbers: Iterable[int]) -> Iterator[Result | _Refusal]:
        for number in numbers:
            yield _guarded(partial(work, number))

    return _collected(context.parallelize(range(tasks), tasks).mapPartitions(run))


def exchange(
    session: SparkSession, tasks: int, hand_out: HandOut, buckets: int, work_on: WorkOn[Result]
) -> list[Result]:
    """Return the result of each bucket, in their order, from the rows that tasks hand out.

    A bucket that got no rows is worked on as well. Results are small. The rows of a bucket come in
    any order: what is made of them must not depend on it.
    """
    context = session.sparkContext

    def out(numbers: Iterable[int]) -> Iterator[tuple[int, bytes | _Refusal]]:
        for number in numbers:
            rows = hand_out(number)
            while True:
                part = _guarded(partial(_next, rows))
                if part is None:
                    break
                if isinstance(part, _Refusal):
                    yield 0, part
                    break
                yield part[0], to_bytes(part[1])

    def on(bucket: int, parts: Iterable[tuple[int, bytes | _Refusal]]) -> Iterator[Any]:
        met: list[_Refusal] = []

        def rows() -> Iterator[pa.Table]:
            for _, part in parts:
                if isinstance(part, _Refusal):
                    met.append(part)
                elif not met:
                    yield from_bytes(part)

        try:
            result = _guarded(partial(work_on, bucket, rows()))
        except RuntimeError:
            if not met:
                raise
        yield met[0] if met else result

    handed = context.parallelize(range(tasks), tasks).mapPartitions(out)
    sorted_out = handed.partitionBy(buckets, _same)
    return _collected(sorted_out.mapPartitionsWithIndex(on, preservesPartitioning=True))


def to_bytes(table: pa.Table) -> bytes:
    """Return a table as bytes that `from_bytes` reads."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def from_bytes(data: bytes) -> pa.Table:
    """Return the table that the bytes hold."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _next(rows: Iterator[tuple[int, pa.Table]]) -> tuple[int, pa.Table] | None:
    return next(rows, None)


def _same(bucket: int) -> int:
    return bucket


def _guarded(work: Callable[[], Result]) -> Result | _Refusal:
    """Return what the work returns, or its refusal; other failures are raised without a value."""
    try:
        return work()
    except SfumatoError as error:
        return _Refusal(_plain(error))
    except MemoryError:
        raise RuntimeError("a worker ran out of memory") from None
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__} at {place_of(error)}") from None


def _plain(error: SfumatoError) -> SfumatoError:
    """Return the error without what hangs on it, in a form that can be pickled."""
    kind = type(error)
    try:
        copy: SfumatoError = pickle.loads(pickle.dumps(kind(str(error))))
    except Exception:
        copy = SfumatoError(str(error))
    return copy


def _collected(results: RDD[Any]) -> list[Any]:
    """Return the results; refusals of tasks are raised here, and failures without their words."""
    try:
        found = results.collect()
    except Exception as error:
        told = _FAILURE.findall(str(error))
        reason = told[-1] if told else type(error).__name__
        raise EngineUnavailable(
            f"Spark gave up a job of this run ({reason}); nothing was written. If executors were "
            "lost, give them more memory or ask for smaller shards (--shard-rows)"
        ) from None
    for result in found:
        if isinstance(result, _Refusal):
            raise result.error
    return found
