"""Outputs of commands as records: by our own forms and templates, else by those of ntc-templates.

Whichever reads it: an output that is not whole, as far as it shows, gives no record at all.
"""

import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from re import Match
from typing import Any

import ntc_templates
from textfsm import TextFSM, TextFSMError
from textfsm.clitable import CliTable, CliTableError
from textfsm.parser import TextFSMRule

from netautod_cli import blocks, fact_forms, interface_forms, neighbor_forms, routeros, vrp_vlans
from netautod_cli.templates import TEMPLATES
from netautod_cli.unreadable import Unreadable
from netautod_cli.whole import ends_within, has_stray

Record = Mapping[str, Any]
Records = Sequence[Record]
# How lines begin that devices print instead of an empty table.
EMPTY = (
    "total entries displayed: 0",
    "there are no neighbors",
    "there are no entries",
    "no lldp neighbors",
    "no neighbors",
    "no mac entries",
    "no mac address",
    "no arp entries",
    "no entries",
    "lldp is not enabled",
    "the lldp service is not running",
    "cdp is not enabled",
    "no neighbor",
)
# The names under which ntc-templates has a command, where they are others.
COMMANDS = {
    "show ip arp vrf all": "show ip arp",
    "show lldp neighbor-info detail": "show lldp neighbors-info detail",
    "/system resource print": "system resource print",
    "/interface print terse without-paging": "interface print terse without-paging",
    "/ip neighbor print detail": "ip neighbor print detail",
    "/ip arp print terse without-paging": "ip arp print terse without-paging",
}
# Between licences and components, few lines are facts: what has none of these is something else.
PROSE: Mapping[str, tuple[str, ...]] = {"show version": ("version", "os", "image")}
# Lines that ntc-templates take for another form: a router with several switching cards names each.
_LABELS: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("cisco_ios", "show mac address-table"): re.compile(r"^EHWIC: \d+\s*$", re.MULTILINE),
}
_ANYTHING = ("^.*", "^.*$")  # the rule of a part of no interest
FORMS = {**interface_forms.FORMS, **neighbor_forms.FORMS, **fact_forms.FORMS}
_TEMPLATES = Path(ntc_templates.__file__).parent / "templates"


def records_of(platform: str, command: str, output: str) -> Records:
    """Parse an output. Raises Unreadable for another text, or for one that ends before the command's output
    does.
    """
    if not output.strip():
        return ()
    try:
        form = FORMS.get((platform, command))
        if form is not None:
            return blocks.records(form, command, output)
        if (platform, command) == ("huawei_vrp", "display vlan"):
            return vrp_vlans.records(command, output)
        if platform == "mikrotik_routeros":
            return routeros.records(command, output)
        return _by_template(platform, command, output)
    except Unreadable:
        if _says_empty(output):
            return ()
        raise
    except (TextFSMError, CliTableError) as exc:
        if _says_empty(output):
            return ()
        # The message quotes the line: it is not ours to show.
        raise Unreadable(f"`{command}` prints a form that is not known") from exc
    except Exception as exc:
        raise Unreadable(f"`{command}` cannot be read ({type(exc).__name__})") from exc


def _by_template(platform: str, command: str, output: str) -> Records:
    known = COMMANDS.get(command, command)
    machine = _machine(platform, known)
    if (labels := _LABELS.get((platform, command))) is not None:
        output = labels.sub("", output)
    records = machine.read(output)
    wanted = PROSE.get(command)
    if wanted is not None:
        if any(record.get(name) for record in records for name in wanted):
            return records
        raise Unreadable(f"`{command}` prints a form that is not known")
    lines = [line for line in output.splitlines() if line.strip()]
    if has_stray(machine.passed(lines[-1])) or (not records and not machine.is_table):
        raise Unreadable(f"`{command}` prints a form that is not known")
    if records and machine.valued and not machine.has_ended and ends_within(lines, machine.valued):
        raise Unreadable(f"`{command}` ends in the middle of a row")
    return records


class _Machine(TextFSM):  # type: ignore[misc]
    """A template that keeps the lines that no rule took.

    `is_table`: a rule took one. `valued`: of each line from the first row on, whether it gave a value.
    `has_ended`: the rest is of no interest to the template.
    """

    def read(self, text: str) -> Records:
        self.Reset()
        self._stray: list[tuple[str, bool]] = []
        self.is_table = self.has_ended = False
        self.valued: list[bool] = []
        return [dict(zip(self._names, row, strict=True)) for row in self.ParseText(text)]

    @property
    def _names(self) -> list[str]:
        return [str(name).lower() for name in self.header]

    def passed(self, last: str) -> list[tuple[str, bool, bool]]:
        """Return the lines that no rule took, for `has_stray`."""
        return [(line, behind, line == last) for line, behind in self._stray]

    def _CheckLine(self, line: str) -> None:  # noqa: N802 - its base calls it
        self._is_taken = self._has_value = False
        super()._CheckLine(line)
        self.has_ended = self.has_ended or self._cur_state_name in ("End", "EOF")
        if not line.strip():
            return
        if self._has_value or self.valued:
            self.valued.append(self._has_value)
        self.is_table = self.is_table or self._is_taken
        if not self._is_taken:
            self._stray.append((line, bool(self._result)))

    def _CheckRule(self, rule: TextFSMRule, line: str) -> Match[str] | None:  # noqa: N802
        match: Match[str] | None = super()._CheckRule(rule, line)
        if match is not None:
            self._is_taken = True
            self._has_value = self._has_value or any(match.groupdict().values())
            self.has_ended = self.has_ended or rule.regex in _ANYTHING
        return match


@cache
def _machine(platform: str, command: str) -> _Machine:
    """Return the machine, compiled once in the process that parses."""
    own = TEMPLATES.get((platform, command))
    return _Machine(io.StringIO(_of_ntc(platform, command) if own is None else own))


def _of_ntc(platform: str, command: str) -> str:
    index = CliTable("index", str(_TEMPLATES)).index
    row = index.GetRowMatch({"Command": command, "Platform": platform})
    if not row:
        raise Unreadable(f"there is no template for `{command}`")
    return (_TEMPLATES / str(index.index[row]["Template"])).read_text()


def _says_empty(output: str) -> bool:
    """Return whether a line says that the table is empty; by whole lines: a description may hold any of these
    words.
    """
    return any(line.strip(" \t%*").lower().startswith(EMPTY) for line in output.splitlines())
