"""`sfumato serve`: the workbench, in a browser on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.show import one_line
from sfumato.errors import EngineUnavailable

EXAMPLE = "Example: sfumato serve workbench --data-folder data"

Folder = Annotated[Path, typer.Argument(metavar="[FOLDER]")]
Host = Annotated[str, typer.Option("--host", help="Where to listen; others can reach it then.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")]
DataFolder = Annotated[
    list[Path] | None,
    typer.Option("--data-folder", help="A folder whose files can be opened in place."),
]
Most = Annotated[
    int, typer.Option("--max-upload-mb", min=1, help="How large an uploaded file may be.")
]


def serve(
    folder: Folder = Path("sfumato-workbench"),
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_browser: NoBrowser = False,
    data_folder: DataFolder = None,
    max_upload_mb: Most = 2000,
) -> None:
    """Open the workbench: from a file to a release that you can defend, in a browser.

    FOLDER is where projects are kept; it is made if it is missing.
    """
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise EngineUnavailable(
            "the workbench is not installed; install it with `pip install 'sfumato[web]'`"
        ) from None
    from sfumato.web.guard import is_loopback
    from sfumato.web.serve import serve as run

    def ready(address: str) -> None:
        if not is_loopback(host):
            print(
                "warning: others can reach it, and what they send is not encrypted; whoever has "
                "the address sees the data",
                file=sys.stderr,
            )
        print(f"The workbench is open at\n\n  {address}\n\nPress Ctrl-C to end it.", flush=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    def note(line: str) -> None:
        print(one_line(line), file=sys.stderr)

    run(
        folder,
        host=host,
        port=port,
        data_folders=data_folder or (),
        max_upload=max_upload_mb * 1_000_000,
        ready=ready,
        note=note,
    )
