"""`sfumato serve`: the process, its address, and its end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from sfumato.errors import EngineUnavailable


@pytest.fixture
def served(tmp_path):
    """Start servers in a folder; they are ended after the test."""
    started = []

    def start(*arguments: str, folder: str = "space"):
        program = [sys.executable, "-c", "from sfumato.cli import main; main()", "serve"]
        process = subprocess.Popen(
            [*program, str(tmp_path / folder), *arguments, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def address_of(process) -> str:
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise AssertionError(process.stderr.read())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_whoever_has_the_address_and_ends_when_asked(served, how):
    process = served()
    address = address_of(process)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(address) as page:
        assert page.url == address.partition("?")[0]
        assert "Projects" in page.read().decode()
        assert page.headers["server"] is None
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(address.partition("?")[0])
    refused.value.close()
    assert refused.value.code == 403
    process.send_signal(how)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def test_a_folder_is_served_once(served):
    address_of(served())
    second = served()
    _, err = second.communicate(timeout=60)
    assert second.returncode == 2
    assert "another workbench has" in err


def test_a_port_that_is_taken(served):
    port = address_of(served()).split(":")[2].partition("/")[0]
    second = served("--port", port, folder="other")
    _, err = second.communicate(timeout=60)
    assert second.returncode == 2
    assert err.startswith(f"error: cannot listen at 127.0.0.1, port {port}:")


def test_a_server_for_others_warns(served):
    process = served("--host", "0.0.0.0")
    address_of(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert "others can reach it" in err


def test_a_folder_that_cannot_be_made(served, tmp_path):
    (tmp_path / "file").write_text("x")
    process = served(folder="file")
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n")) == (2, 1)
    assert "cannot be used" in err


def test_without_the_extra(monkeypatch, tmp_path):
    from sfumato.cli.serve import serve

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(EngineUnavailable, match="sfumato\\[web\\]"):
        serve(tmp_path)
    assert list(tmp_path.iterdir()) == []
