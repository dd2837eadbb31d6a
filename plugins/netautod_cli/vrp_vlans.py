"""`display vlan` of VRP: the ports of VLANs in one table, their states in another below it.

Huawei, "display vlan": `UT:` and `TG:` stand before the first port of their kind, and ports of the same kind
follow in the next lines; releases differ in the columns between the number and those.
"""

import re
from collections.abc import Iterator
from typing import Any

from netautod_cli.unreadable import Unreadable

_HEADING = re.compile(r"\s*(?:VID|VLAN ID)\s+\S")
_ROW = re.compile(r"\s{0,4}(?P<vlan_id>\d{1,4})\s*(?P<rest>\s.*)?")
_MODE = re.compile(r"\b(?P<mode>UT|TG|MP|ST):\s*|(?P<port>[A-Za-z0-9][\w./:-]*)\((?P<state>[UD])\)")
_STATE = re.compile(r"\s(?P<status>enable|disable)\b")
_KINDS = {"UT": "untagged", "TG": "tagged"}


def records(command: str, output: str) -> list[dict[str, Any]]:
    """Return one record for each VLAN and kind of port, so that `mode` holds for its ports."""
    found: dict[str, dict[str, Any]] = {}
    columns: list[str] | None = None
    current: dict[str, Any] | None = None
    mode: str | None = None
    for line in output.splitlines():
        if _HEADING.match(line):
            columns, current, mode = line.replace("VLAN ID", "VID").split(), None, None
            continue
        if columns is None or not line.strip(" -"):
            continue
        row = _ROW.fullmatch(line)
        if row is not None:
            current = found.setdefault(row["vlan_id"], {"vlan_id": row["vlan_id"], "UT": [], "TG": []})
            _describe(current, line, columns)
            if "Ports" not in columns and len(line.split()) < len(columns) - 1:
                raise Unreadable(f"`{command}` ends in the middle of a row")
        if current is None or (row is None and not line.startswith("   ")):
            raise Unreadable(f"`{command}` prints a form that is not known")
        if "Ports" in columns:
            mode = _read_ports(current, line, None if row is not None else mode)
            if mode is not None and _rest(line):
                raise Unreadable(f"`{command}` ends in the middle of a row")
    if columns is None:
        raise Unreadable(f"`{command}` prints a form that is not known")
    return [one for record in found.values() for one in _by_mode(record)]


def _describe(record: dict[str, Any], line: str, columns: list[str]) -> None:
    state = _STATE.search(line)
    if state is not None and "status" not in record:
        record["status"] = state["status"]
    words = line.split(None, len(columns) - 1)
    for name, field in (("Name", "vlan_name"), ("Description", "vlan_description")):
        # A VLAN without a name has fewer words than its table has columns.
        if (
            name in columns
            and len(words) == len(columns)
            and words[columns.index(name)] != record.get("status")
        ):
            record[field] = words[columns.index(name)].strip()


def _read_ports(record: dict[str, Any], line: str, mode: str | None) -> str | None:
    for match in _MODE.finditer(line):
        if match["mode"]:
            mode = match["mode"]
        elif mode in _KINDS:
            record[mode].append(match["port"])
    return mode


def _rest(line: str) -> str:
    """Return what stands behind the first mode, or in a line of ports, and is no port."""
    first = re.search(r"\b(?:UT|TG|MP|ST):", line)
    return _MODE.sub("", line if first is None else line[first.start() :]).strip()


def _by_mode(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    rest = {name: value for name, value in record.items() if name not in _KINDS}
    kinds = [mode for mode in _KINDS if record[mode]]
    if not kinds:
        yield {**rest, "interface": []}
    for mode in kinds:
        yield {**rest, "mode": mode, "interface": record[mode]}
