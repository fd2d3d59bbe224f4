"""The server: a port of this machine, the workspace held, runs ended with it."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from sfumato.errors import InputError
from sfumato.web.app import application
from sfumato.web.bench import Bench
from sfumato.web.guard import EVERYWHERE, TOKEN, Hosts, Keys
from sfumato.web.projects import Workspace
from sfumato.web.runs import Runner


def serve(
    folder: Path,
    *,
    host: str,
    port: int,
    data_folders: Sequence[Path] = (),
    max_upload: int,
    ready: Callable[[str], None],
    note: Callable[[str], None],
) -> None:
    """Serve the workbench until it is interrupted; `ready` gets its address with the token.

    Refuses (InputError) a folder that cannot be used, and a port that is taken.
    """
    os.umask(0o077)  # all that is written is for its owner
    workspace = Workspace(folder, data_folders)
    with workspace.opened(), _listening(host, port) as listener:
        port = listener.getsockname()[1]
        keys, runner = Keys(), Runner(workspace)
        runner.recover()
        hosts = Hosts.of(host, port, (socket.gethostname(), socket.getfqdn()))
        app = application(Bench(workspace, runner, keys, max_upload), hosts, note)
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
        if threading.current_thread() is threading.main_thread():
            # asked to end is like Ctrl-C: runs are ended first
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            ready(f"http://{_name(host)}:{port}/?{TOKEN}={keys.token}")
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:
            pass  # how a server ends
        finally:
            runner.stop()


def _name(host: str) -> str:
    """Return the name of a host in an address; everywhere has that of the machine."""
    if host in EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)  # whoever comes before the server is ready waits
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or "no such port"
        raise InputError(f"cannot listen at {host}, port {port}: {reason}") from None
    return listener
