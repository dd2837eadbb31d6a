"""A text that hides or turns something is shown as it is, wherever text is printed."""

import csv
import json
import logging
from io import StringIO
from unittest.mock import Mock

import pytest

from netautod.cli.output import complain, say
from netautod.console.base.rendering import Renderer
from netautod.core.logs.setup import JsonFormatter, TextFormatter
from netautod.core.text.csv_rows import csv_text
from netautod.core.text.printable import printable, printable_lines
from tests.attacks.attackers.texts import TEXTS

every_text = pytest.mark.parametrize(
    ("text", "shown"), [pytest.param(text, shown, id=name) for name, (text, shown) in TEXTS.items()]
)
PRINTED = {
    "a cell": ("<td>{{ text }}</td>", "<td>%s</td>"),
    "an attribute": ('<a title="{{ text }}">', '<a title="%s">'),
    "a macro": ("{% macro m(x) %}<b>{{ x }}</b>{% endmacro %}{{ m(text) }}", "<b>%s</b>"),
    "a joined list": ('{{ ["a", text]|join("\n") }}', "a\n%s"),
    "a part": ("<pre>{{ text[:100000] }}</pre>", "<pre>%s</pre>"),
    "a concatenation": ('{{ "of " ~ text }}', "of %s"),
    "behind a text area": ("<textarea></textarea>{{ text }}", "<textarea></textarea>%s"),
    "behind a field": ('<input value="{{ 1 }}">{{ text }}', '<input value="1">%s'),
}
HELD = {
    "a field": ('<input value="{{ text }}">', '<input value="%s">'),
    "a field with a condition": ('<input value="{{ text if text else "" }}">', '<input value="%s">'),
    "a text area": ("<textarea>{% if text %}{{ text }}{% endif %}</textarea>", "<textarea>%s</textarea>"),
    "a macro of a form": (
        '{% macro m() %}{{ text|form_value }}{% endmacro %}<input value="{{ m() }}">',
        '<input value="%s">',
    ),
}


def page(template: str, text: str) -> str:
    return Renderer(Mock(), {})._environment.from_string(template).render(text=text)


@every_text
def test_the_one_function(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable_lines(f"{text}\r\n\tx\n") == f"{shown}\n\tx\n"


@every_text
def test_a_page_shows_it(text: str, shown: str) -> None:
    for template, html in PRINTED.values():
        assert page(template, text) == html % shown


@every_text
def test_a_form_keeps_it(text: str, shown: str) -> None:
    """What a form holds comes back with it, and is stored."""
    for template, html in HELD.values():
        assert page(template, text) == html % text


@every_text
def test_a_command_shows_it(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"{text:<40} up")
    complain(text)
    printed = capsys.readouterr()
    assert shown in printed.out
    assert printed.out.count("\n") == 1
    assert printed.err == f"netautod: {shown}\n"


@every_text
def test_a_spreadsheet_shows_it(text: str, shown: str) -> None:
    assert next(csv.reader(StringIO(csv_text([[text, "x"]])))) == [shown, "x"]


@every_text
def test_the_log_shows_it(text: str, shown: str) -> None:
    record = logging.LogRecord("netautod", logging.INFO, "", 0, "said %s", (text,), None)
    assert TextFormatter(lambda _, line: line).format(record).endswith(f" said {shown}")
    line = JsonFormatter(lambda _, line: line).format(record)
    assert line == printable(line)
    assert json.loads(line)["message"] == f"said {text}"
