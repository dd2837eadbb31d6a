"""The commands that each platform allows: ordinary readings as people type them, and each of its forms by an
example.
"""

from collections import deque
from pathlib import Path

import pytest

from netautod.transport.ssh.platform.registry import PlatformRegistry, read_only_grammar
from netautod.transport.ssh.read_only.arguments import KINDS
from netautod.transport.ssh.read_only.forms import Node, graph_of
from netautod.transport.ssh.read_only.grammar import LONGEST
from tests.support.tables import over

REGISTRY = PlatformRegistry()
ROWS = [
    line.split("\t")
    for line in Path(__file__).with_name("data").joinpath("good.tsv").read_text().splitlines()
]
EVERYDAY = [
    line.partition(": ")[::2]
    for line in Path(__file__).with_name("data").joinpath("everyday.txt").read_text().splitlines()
    if not line.startswith("#")
]
KNOWN = [name for name in REGISTRY.names() if name != "generic"]
# Large ones have more, as what people ask of them is more.
LARGE = [
    "cisco_ios",
    "cisco_nxos",
    "cisco_xr",
    "cisco_asa",
    "arista_eos",
    "juniper_junos",
    "hp_comware",
    "huawei_vrp",
    "hp_procurve",
    "mikrotik_routeros",
    "fortinet",
    "paloalto_panos",
    "vyos",
    "linux",
    "frr",
    "dell_os10",
    "nokia_sros",
]
SAMPLES = {
    "number": "7",
    "name": "Xq_1",
    "interface": "zz-1/0/1.7",
    "slot": "1/7",
    "list": "7-9,11",
    "ports": "A7",
    "object": "/Common/xq_1",
    "pattern": "^xq.*7",
    "plain": "xq_7",
    "either": "xq_7|xq_8",
    "quoted": '"xq 7|xq 8"',
    "address": "192.0.2.0/24",
    "mac": "0011.2233.4455",
}


@over(
    ("name", "requested", "sent"),
    [pytest.param(*row, id=f"{row[0]}: {row[1]}") for row in ROWS if row[2][0] != "!"],
)
def test_an_ordinary_reading_is_allowed(name: str, requested: str, sent: str) -> None:
    assert read_only_grammar(name, REGISTRY).check(requested) == (sent, None)


@over("name", sorted({name for name, _ in EVERYDAY}))
def test_so_are_those_of_every_day(name: str) -> None:
    grammar = read_only_grammar(name, REGISTRY)
    requested = [command for platform, command in EVERYDAY if platform == name]
    refused = {
        command: reason for command in requested if (reason := grammar.check(command).reason) is not None
    }
    assert len(requested) > 30
    assert refused == {}


@over(
    ("name", "requested", "reason"),
    [pytest.param(*row, id=f"{row[0]}: {row[1]}") for row in ROWS if row[2][0] == "!"],
)
def test_the_reason_says_what_is_wrong_with_a_reading(name: str, requested: str, reason: str) -> None:
    command, refusal = read_only_grammar(name, REGISTRY).check(requested)
    assert command is None
    assert reason[1:] in str(refusal)


def test_every_platform_has_a_row() -> None:
    assert set(REGISTRY.names()) <= {row[0] for row in ROWS}


@pytest.mark.parametrize("name", REGISTRY.names())
def test_every_platform_has_a_section_with_enough_forms(name: str, repository_root: Path) -> None:
    path = repository_root / "netautod" / "transport" / "ssh" / "platforms" / f"{name}.toml"
    assert "\n[read_only]\n" in path.read_text(encoding="utf-8")
    forms = REGISTRY.get(name).read_only.forms
    assert len(forms) >= (0 if name == "generic" else 40 if name in LARGE else 10)


def test_each_kind_has_a_sample() -> None:
    assert set(SAMPLES) == set(KINDS)


def examples(root: Node) -> list[str]:
    """Return commands that together go over every word and every argument of the forms, as short as
    may be.
    """
    shortest: dict[Node, list[str]] = {root: []}
    edges: list[tuple[Node, str, Node]] = []
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        steps = [(word, behind) for word, many in node.words.items() for behind in many]
        steps += [
            (a.before + SAMPLES[a.kind], behind) for a, many in node.arguments.items() for behind in many
        ]
        for word, behind in steps:
            edges.append((node, word, behind))
            if behind not in shortest:
                shortest[behind] = [*shortest[node], word]
                waiting.append(behind)
    to_end: dict[Node, list[str]] = {node: [] for node in shortest if node.ends}
    while len(to_end) < len(shortest):
        found = {
            node: [word, *to_end[behind]]
            for node, word, behind in edges
            if behind in to_end and node not in to_end
        }
        assert found, "a form leads nowhere"
        to_end.update(found)
    return [" ".join([*shortest[node], word, *to_end[behind]]) for node, word, behind in edges]


@over("name", KNOWN)
def test_every_form_is_reached_and_a_full_command_stays_as_it_is(name: str) -> None:
    grammar = REGISTRY.get(name).read_only
    commands = [command for command in examples(graph_of(grammar.forms)) if len(command) <= LONGEST]
    assert {command: grammar.check(command) for command in commands} == {
        command: (command, None) for command in commands
    }


@over("name", [name for name in KNOWN if REGISTRY.get(name).read_only.filters])
def test_every_filter_is_reached(name: str) -> None:
    grammar = REGISTRY.get(name).read_only
    reading = next(command for command in examples(graph_of(grammar.forms)) if len(command) < 100)
    for wanted in examples(graph_of(grammar.filters)):
        command = f"{reading} | {wanted}"
        assert grammar.check(command) == (command, None)
