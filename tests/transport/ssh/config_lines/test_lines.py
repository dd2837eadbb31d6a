"""The lines that each platform takes for configuration, and those that it must never be sent."""

from typing import Any

import pytest

from netautod.core.errors import InvalidInput
from netautod.transport.ssh.config_lines.grammar import ConfigLines
from netautod.transport.ssh.config_lines.unlisted import NOUNS
from tests.support.tables import over

from .conftest import CHANGEABLE, DATA, REGISTRY, lines_of, table

TAKES = [(name, line) for name in CHANGEABLE for line in lines_of(table(name)["takes"])]
REFUSES = [(name, line) for name in CHANGEABLE for line in lines_of(table(name)["refuses"])]
EVERYWHERE = [(what, line) for what, lines in table("everywhere").items() for line in lines]
IN_ORDER = [
    (title, platform, case)
    for title, cases in table("in_order").items()
    for case in cases
    for platform in case["platforms"]
]


def lines(name: str) -> ConfigLines:
    how = REGISTRY.get(name).change
    assert how is not None
    return how.lines


def refusal(known: ConfigLines, *sent: str) -> str | None:
    try:
        known.check(sent)
    except InvalidInput as refused:
        return refused.text
    return None


@over(("name", "line"), [pytest.param(*one, id=f"{one[0]}: {one[1].strip()}") for one in TAKES])
def test_a_line_of_configuration_is_taken(name: str, line: str) -> None:
    assert refusal(lines(name), line) is None


@over(("name", "line"), [pytest.param(*one, id=f"{one[0]}: {one[1].strip()}") for one in REFUSES])
def test_a_command_is_refused(name: str, line: str) -> None:
    assert refusal(lines(name), line) is not None


@pytest.mark.parametrize("name", CHANGEABLE)
def test_what_no_platform_takes(name: str) -> None:
    assert [(what, line) for what, line in EVERYWHERE if refusal(lines(name), line) is None] == []


@pytest.mark.parametrize("name", CHANGEABLE)
def test_what_no_platform_takes_behind_a_negation(name: str) -> None:
    known = lines(name)
    commands = [line for _, line in EVERYWHERE if line.strip()]
    assert [
        f"{word} {line}" for word in known.before for line in commands if not refusal(known, f"{word} {line}")
    ] == []


@over(
    ("platform", "case"),
    [pytest.param(platform, case, id=f"{platform}: {title}") for title, platform, case in IN_ORDER],
)
def test_lines_in_their_order(platform: str, case: dict[str, Any]) -> None:
    found = refusal(lines(platform), *case["lines"])
    expected = case.get("refused")
    assert found is None if expected is None else expected in (found or "")


@pytest.mark.parametrize("name", CHANGEABLE)
def test_each_platform_has_tables_and_a_list(name: str) -> None:
    assert lines(name).words
    found = table(name)
    assert found["sources"]
    assert len(lines_of(found["takes"])) >= 45
    assert len(lines_of(found["refuses"])) >= 30


def test_each_table_is_of_a_platform() -> None:
    others = {"everywhere", "in_order", "unknown"}
    assert {path.stem for path in DATA.glob("*.toml")} == {*CHANGEABLE, *others}


@pytest.mark.parametrize("line", lines_of(table("unknown")["takes"]))
def test_a_platform_without_a_list_takes_what_is_no_command_anywhere(line: str) -> None:
    assert refusal(ConfigLines(), line) is None


@pytest.mark.parametrize("line", lines_of(table("unknown")["refuses"]))
def test_a_platform_without_a_list_refuses_what_may_be_a_command(line: str) -> None:
    assert refusal(ConfigLines(), line) is not None


@pytest.mark.parametrize("what", table("everywhere"))
def test_what_no_platform_takes_is_refused_without_a_list(what: str) -> None:
    rules = ConfigLines(verbs=frozenset({"system-view"}))
    assert [line for line in table("everywhere")[what] if refusal(rules, line) is None] == []


def test_without_a_list_what_reads_on_any_platform_is_refused_but_a_few_nouns() -> None:
    forms = [form.split()[0] for name in REGISTRY.names() for form in REGISTRY.get(name).read_only.forms]
    firsts = {word.lower() for first in forms for word in first.split("|")}
    assert {word for word in firsts if refusal(ConfigLines(), f"{word} x") is None} <= NOUNS
