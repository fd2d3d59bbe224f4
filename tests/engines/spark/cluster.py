"""A standalone cluster of Spark on this machine: processes on free ports, ended with the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

_PATIENCE = 120.0


@contextmanager
def cluster(workers: int, folder: Path, memory: str = "1g") -> Iterator[tuple[str, list[int]]]:
    """Yield the address of a master and the processes of its workers, of one core each."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    processes = [
        _started(
            ["org.apache.spark.deploy.master.Master", "--port", str(port)], folder / "master.log"
        )
    ]
    try:
        _await_port(port)
        for number in range(workers):
            place = folder / f"worker-{number}"
            limits = ["--cores", "1", "--memory", memory, "--work-dir", str(place)]
            command = ["org.apache.spark.deploy.worker.Worker", *limits, address]
            processes.append(_started(command, folder / f"worker-{number}.log"))
        yield address, [process.pid for process in processes[1:]]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def executors(workers: list[int]) -> list[int]:
    """Return the executors that these workers have started."""
    return [
        pid
        for worker in workers
        for pid in _children(worker)
        if b"CoarseGrainedExecutorBackend" in _command(pid)
    ]


def kill(pid: int) -> None:
    """End an executor at once, as a machine that fails would."""
    os.kill(pid, signal.SIGKILL)


def _started(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
    }
    host = ["--host", "127.0.0.1", "--webui-port", "0"]
    with log.open("wb") as sink:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), command[0], *host, *command[1:]],
            env=environment,
            stdout=sink,
            stderr=subprocess.STDOUT,
        )


def _await_port(port: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master of the cluster does not answer")


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.name))
    return found


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
