"""The `sfumato` command: its subcommands, and how every ending becomes an exit code.

0: done. 1: the answer is no (an audit found a broken claim, a policy does not fit). 2: bad input
or usage. 70: a fault of sfumato itself. 130: interrupted. Whatever goes wrong takes one line on
stderr, without values of the data and without a traceback.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn, cast

import typer

from sfumato.cli import (
    anonymize,
    apply,
    attack,
    audit,
    check,
    compare,
    compose,
    demo,
    init,
    link,
    query,
    recommend,
    reconstruct,
    report,
    reproduce,
    risk,
    serve,
    utility,
)
from sfumato.cli.profile import with_profile
from sfumato.cli.show import one_line
from sfumato.errors import ClaimBroken, SfumatoError, place_of
from sfumato.short_memory import is_memory_short
from sfumato.version import __version__

INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130
BROKEN_PIPE = 141

# The base of all errors of usage. Typer uses the click library or, in newer versions, a copy of
# its own, so it can only be found through an exception that Typer exports.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[2])

app = typer.Typer(
    name="sfumato",
    help="Publish microdata about people so that the picture stays and the outlines blur.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: sfumato demo",
)
app.command("init", epilog=init.EXAMPLE)(with_profile(init.init))
app.command("check", epilog=check.EXAMPLE)(with_profile(check.check))
app.command("risk", epilog=risk.EXAMPLE)(with_profile(risk.risk))
app.command("anonymize", epilog=anonymize.EXAMPLE)(with_profile(anonymize.anonymize))
app.command("link", epilog=link.EXAMPLE)(with_profile(link.link))
app.command("apply", epilog=apply.EXAMPLE)(with_profile(apply.apply))
app.command("audit", epilog=audit.EXAMPLE)(with_profile(audit.audit))
app.command("attack", epilog=attack.EXAMPLE)(with_profile(attack.attack))
app.command("compose", epilog=compose.EXAMPLE)(with_profile(compose.compose))
app.command("query", epilog=query.EXAMPLE)(with_profile(query.query))
app.command("reconstruct", epilog=reconstruct.EXAMPLE)(with_profile(reconstruct.reconstruct))
app.command("utility", epilog=utility.EXAMPLE)(with_profile(utility.utility))
app.command("report", epilog=report.EXAMPLE)(with_profile(report.report))
app.command("reproduce", epilog=reproduce.EXAMPLE)(with_profile(reproduce.reproduce))
app.command("compare", epilog=compare.EXAMPLE)(with_profile(compare.compare))
app.command("recommend", epilog=recommend.EXAMPLE)(with_profile(recommend.recommend))
app.command("serve", epilog=serve.EXAMPLE)(with_profile(serve.serve))
app.command("demo", epilog=demo.EXAMPLE)(with_profile(demo.demo))


@app.callback(invoke_without_command=True)
def _sfumato(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"sfumato {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of one command line; all messages have been printed."""
    try:
        # A name in another script must not end a command that has done its work.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        code = app(arguments, prog_name="sfumato", standalone_mode=False)
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
        if code == INTERRUPTED:  # how Typer hands over Ctrl-C
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except ClaimBroken as error:
        return _refuse(str(error), 1)
    except SfumatoError as error:
        return _refuse(str(error), 2)
    except _UsageError as error:
        return _refuse(_usage(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        return _refuse("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # Typer exits by itself when the reader has gone
        # The interpreter must not try to write what is left at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:  # such as a full disk under the output; its text names no cell
        return _refuse(f"the output cannot be written ({error.strerror})", 2)
    except MemoryError:
        return _refuse("not enough memory for this table", 2)
    except Exception as error:
        if is_memory_short():  # which libraries tell in many ways, such as a failed import
            return _refuse("not enough memory for this table", 2)
        # Neither message nor traceback: they may quote cells.
        place = place_of(error)
        return _refuse(
            f"{type(error).__name__} at {place}; please report this",
            INTERNAL_ERROR,
            "internal error",
        )


def _refuse(message: str, code: int, what: str = "error") -> int:
    print(f"{what}: {one_line(message)}", file=sys.stderr)
    return code


def _usage(error: Any) -> str:
    """Return what is wrong with the command line; Typer and click may both suggest the same."""
    message: str = error.format_message()
    return re.sub(r"(Did you mean [^?]*\?)( \1)+", r"\1", message)
