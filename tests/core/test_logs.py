"""Log lines: one event is one line, whatever a client or a device put into its text."""

import io
import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from netautod.core.logs import setup as logs
from netautod.core.logs.lines import Belonging, current
from netautod.secrets.redaction.known_secrets import hide_in_log

Logged = Callable[[str, str], list[str]]


@pytest.fixture
def logged() -> Iterator[Logged]:
    """`logged(format, text)`: the lines that one warning with this text makes."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    quiet = {name: logging.getLogger(name).level for name in logs.NOISY}
    stream = io.StringIO()

    def log(form: str, text: str) -> list[str]:
        root.handlers = []
        logs.configure(level="info", format=form, hide=hide_in_log, stream=stream)
        logging.getLogger("test").warning("PUT /api/sites: %s", text)
        return stream.getvalue().split("\n")[:-1]

    yield log
    root.handlers = handlers
    root.setLevel(level)
    for name, before in quiet.items():
        logging.getLogger(name).setLevel(before)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\n2026-11-21 INFO forged", r"a\n2026-11-21 INFO forged", id="a line of its own"),
        pytest.param("a\rb", r"a\rb", id="a carriage return"),
        pytest.param("\x1b[2J", r"\x1b[2J", id="an escape sequence of a terminal"),
        pytest.param("\x9b2J", r"\x9b2J", id="the same in one character"),
        pytest.param("a\u2028b", r"a\u2028b", id="a line separator"),
        pytest.param("a\u202eb", r"a\u202eb", id="text written backwards"),
        pytest.param("a\u200fb", r"a\u200fb", id="a mark that turns the direction"),
        pytest.param("a\u061cb", r"a\u061cb", id="another such mark"),
        pytest.param("a\u200bb", r"a\u200bb", id="a space without width"),
        pytest.param("a\U000e0041b", r"a\U000e0041b", id="a tag"),
        pytest.param("a\ud800b", r"a\ud800b", id="half a character"),
        pytest.param("M\u00fcnchen \u2192 \\n", "M\u00fcnchen \u2192 \\n", id="letters and a backslash stay"),
    ],
)
def test_nothing_in_a_text_can_make_or_hide_a_line(logged: Logged, text: str, shown: str) -> None:
    (line,) = logged("text", text)
    assert line.endswith(f"WARNING test [-] PUT /api/sites: {shown}")


def test_json_lines_keep_the_text(logged: Logged) -> None:
    text = "a\nb\x1b\x9b\u200f\U000e0041\ud800 M\u00fcnchen"
    (line,) = logged("json", text)
    assert line.isprintable()
    assert "M\u00fcnchen" in line
    assert json.loads(line)["message"] == f"PUT /api/sites: {text}"


def test_an_event_has_its_ids_and_fields_beside_the_text(logged: Logged) -> None:
    token = current.set(Belonging("r1", "o1", "u1", "e1", f"00-{'a' * 32}-{'b' * 16}-01"))
    try:
        (line,) = logged("json", '", "user": "root')
        (shown,) = logged("text", "[- user=root]")[1:]
    finally:
        current.reset(token)
    found = json.loads(line)
    assert found["message"] == 'PUT /api/sites: ", "user": "root'
    ids = {name: found[name] for name in ("request", "organization", "user", "execution")}
    assert ids == {"request": "r1", "organization": "o1", "user": "u1", "execution": "e1"}
    assert (found["trace_id"], found["span_id"]) == ("a" * 32, "b" * 16)
    assert " [r1 org=o1 user=u1 execution=e1] PUT /api/sites: [- user=root]" in shown
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING ", shown)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_times_are_utc_wherever_the_machine_stands(
    logged: Logged, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        before = datetime.now(UTC)
        (line,) = logged("json", "x")
        at = datetime.fromisoformat(json.loads(line)["at"])
    finally:
        monkeypatch.undo()
        time.tzset()
    assert timedelta(milliseconds=-2) < at - before < timedelta(minutes=5)


def test_the_text_of_an_exception_cannot_begin_a_line() -> None:
    try:
        raise ValueError("a\n2026-11-21 ERROR forged\x1b\u200f")
    except ValueError:
        shown = logs.TextFormatter(hide_in_log).format(_record_of_the_current_exception())
    first, *rest = shown.split("\n")
    assert first.endswith("failed")
    assert rest
    assert all(line.startswith("  ") for line in rest)
    assert all(line.isprintable() for line in shown.split("\n"))


def _record_of_the_current_exception() -> logging.LogRecord:
    record = logging.LogRecord("test", logging.ERROR, __file__, 1, "failed", None, sys.exc_info())
    record.request = "-"
    return record
