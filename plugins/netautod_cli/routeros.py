"""Outputs of RouterOS: `key=value` behind a number and flags, or `key: value`, whatever keys a release has.

MikroTik's manual, "Command Line Interface" (print): `terse` prints a record in a line, `detail` wraps it.
Values with blanks stand in quotes in `detail`, and bare in `terse`.
"""

import re
from collections.abc import Iterator
from typing import Any

from netautod_cli.unreadable import Unreadable

_START = re.compile(r"^ *(?P<number>\d+) +(?P<flags>(?:[A-Zacd]+ +)*)(?=;;;|[a-z][\w-]*=)", re.MULTILINE)
_PAIR = re.compile(
    r'(?<!\S)(?P<key>[a-z][a-z0-9-]*)=(?:"(?P<quoted>[^"]*)"|(?P<bare>\S*(?: (?![a-z][\w-]*=)\S+)*))'
)
_COLON = re.compile(r"^\s*(?P<key>[a-z][a-z0-9-]*): ?(?P<value>.*?)\s*$")
_LEGEND = re.compile(r"\s*(?:Flags:|Columns:|[A-Z] - |#).*")
# What a record has to have. A line that was cut before it is no record.
_NEEDED = {
    "/interface print terse without-paging": ("name", "type"),
    "/ip neighbor print detail": ("interface",),
    "/ip arp print terse without-paging": ("address", "interface"),
    "/interface bridge host print terse without-paging": ("mac-address", "interface"),
}
# Our names of the keys, which other platforms have, too.
_NAMES = {
    "board-name": "model",
    "on-interface": "interface",
    "vid": "vlan_id",
    "address4": "ipv4_address",
    "address6": "management_ipv6",
}


def records(command: str, output: str) -> list[dict[str, Any]]:
    """Parse an output. Raises Unreadable for a text of another form, and for one that ends within a
    record.
    """
    needed = _NEEDED.get(command)
    if needed is None:
        return [_facts(command, output)]
    text = "\n".join(line.rstrip() for line in output.splitlines() if not _LEGEND.fullmatch(line))
    starts = list(_START.finditer(text))
    if text.strip() and (not starts or text[: starts[0].start()].strip()):
        raise Unreadable(f"`{command}` prints a form that is not known")
    ends = [*(start.start() for start in starts[1:]), len(text)]
    found = [_record(start, text[start.end() : end]) for start, end in zip(starts, ends, strict=True)]
    if any(name.replace("-", "_") not in record for record in found for name in needed):
        raise Unreadable(f"`{command}` prints a form that is not known")
    if found and _ends_with_key(found, text):
        raise Unreadable(f"`{command}` ends in the middle of a row")
    return found


def _ends_with_key(found: list[dict[str, Any]], text: str) -> bool:
    """Return whether the last word is the beginning of a key that other records have."""
    last = text.rstrip().rpartition(" ")[2].replace("-", "_")
    keys = {key for record in found[:-1] for key in record} - found[-1].keys()
    return "=" not in last and any(key.startswith(last) for key in keys)


def _record(start: re.Match[str], text: str) -> dict[str, Any]:
    record = {"number": start["number"], "flags": start["flags"].replace(" ", "")}
    return {**record, **dict(_pairs(" ".join(text.split())))}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    remark = re.match(r";;; (.*?)(?= [a-z][\w-]*=)", text)
    if remark is not None:
        yield "comment", remark[1]
    for match in _PAIR.finditer(text):
        value = match["bare"] if match["quoted"] is None else match["quoted"]
        yield _NAMES.get(match["key"], match["key"].replace("-", "_")), value


def _facts(command: str, output: str) -> dict[str, Any]:
    found = {}
    for line in output.splitlines():
        match = _COLON.match(line)
        if match is not None:
            found[_NAMES.get(match["key"], match["key"].replace("-", "_"))] = match["value"]
    if "version" not in found:
        raise Unreadable(f"`{command}` prints a form that is not known")
    return found
