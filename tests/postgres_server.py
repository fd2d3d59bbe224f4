"""A throw-away PostgreSQL server: a cluster in a temporary folder, on a free port."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

OWNER = "owner"
NOT_HERE = "PostgreSQL's server is not on this machine (Debian: apt-get install postgresql)"
_SECONDS = 60


@dataclass
class Server:
    """A server that runs; `password` is that of its owner, and the only way in."""

    port: int
    password: str

    def url(self, database: str = "postgres", user: str = OWNER) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def clear(self) -> None:
        """Drop whatever a test has left: far quicker than a new database for each."""
        found = self.run(
            "SELECT nspname::text FROM pg_namespace WHERE nspname !~ '^pg_' "
            "AND nspname <> 'information_schema'"
        )
        quoted = ['"' + name.replace('"', '""') + '"' for (name,) in found]
        self.run(*(f"DROP SCHEMA {name} CASCADE" for name in quoted), "CREATE SCHEMA public")

    def run(self, *statements: str, url: str | None = None, autocommit: bool = False) -> list:
        """Run statements as the owner; return the rows of the last one."""
        import adbc_driver_postgresql.dbapi as driver

        rows: list = []
        with driver.connect(url or self.url(), autocommit=autocommit) as connection:
            with connection.cursor() as cursor:
                for each in statements:
                    cursor.execute(each)
                if statements[-1].lstrip().upper().startswith(("SELECT", "TABLE")):
                    rows = cursor.fetchall()
            if not autocommit:
                connection.commit()
        return rows


def binaries() -> Path | None:
    """Return the folder of the newest server's programs, None where there is none."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3])
    )
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


def _unprivileged() -> tuple[list[str], int | None]:
    """Return how to start a program that refuses to run as root, and as whom."""
    if os.geteuid() != 0:
        return [], None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            return ["setpriv", *ids], user.pw_uid
    return [], None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(programs: Path) -> Iterator[Server]:
    """Yield a server; it and all of its files are gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="sfumato-postgres-"))
    prefix, user = _unprivileged()
    password = secrets.token_hex(12)
    try:
        (home / "password").write_text(password)
        home.chmod(0o700)
        if user is not None:
            os.chown(home, user, -1)
            os.chown(home / "password", user, -1)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        subprocess.run(
            [
                *(*prefix, programs / "initdb", "-D", home / "data", "-U", OWNER, "-E", "UTF8"),
                *("--auth=scram-sha-256", f"--pwfile={home / 'password'}", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            cwd=home.parent,
            env=environment,
        )
        server = Server(_free_port(), password)
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "60",
            "deadlock_timeout": "200ms",
        }
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(*prefix, programs / "postgres", "-D", home / "data", "-p", str(server.port)),
                    *(part for key, value in settings.items() for part in ("-c", f"{key}={value}")),
                ],
                stdout=log,
                stderr=log,
                cwd=home.parent,
                env=environment,
            )
        try:
            _await(server, process, home / "log")
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # stops at once: nothing is to be kept
            try:
                process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _await(server: Server, process: subprocess.Popen, log: Path) -> None:
    for _ in range(_SECONDS * 10):
        if process.poll() is not None:
            raise RuntimeError(log.read_text(errors="replace"))
        # the server says so itself, since a port may be open before it lets anybody in
        if "ready to accept connections" in log.read_text(errors="replace"):
            return
        time.sleep(0.1)
    raise RuntimeError("the server does not start")
