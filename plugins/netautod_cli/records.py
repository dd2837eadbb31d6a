"""Outputs of commands as records: by the templates of ntc-templates, which say what each line has to be."""

from collections.abc import Mapping, Sequence
from typing import Any

from ntc_templates.parse import parse_output
from textfsm import TextFSMError
from textfsm.clitable import CliTableError

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
    "no arp entries",
    "no entries",
    "lldp is not enabled",
    "cdp is not enabled",
    "no neighbor",
)
# The names under which ntc-templates has a platform or a command, where they are others.
PLATFORMS = {"huawei_vrp": "huawei_vrp", "cisco_xr": "cisco_xr"}
COMMANDS = {
    "show ip arp vrf all": "show ip arp",
    "show lldp neighbor-info detail": "show lldp neighbors-info detail",
    "/system resource print": "system resource print",
    "/interface print terse without-paging": "interface print terse without-paging",
    "/ip neighbor print detail": "ip neighbor print detail",
    "/ip arp print terse without-paging": "ip arp print terse without-paging",
}


class Unreadable(Exception):
    """An output that is not what the command prints; `text` says why. Picklable."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def records_of(platform: str, command: str, output: str) -> Records:
    """Raises Unreadable for text with a line that the template of the command does not know."""
    if not output.strip():
        return ()
    known = COMMANDS.get(command, command)
    try:
        records = parse_output(platform=PLATFORMS.get(platform, platform), command=known, data=output)
    except (TextFSMError, CliTableError) as exc:
        if _says_empty(output):
            return ()
        # The message quotes the line: it is not ours to show.
        raise Unreadable(f"`{command}` prints a form that is not known") from exc
    except Exception as exc:
        raise Unreadable(f"`{command}` cannot be read ({type(exc).__name__})") from exc
    return list(records)


def _says_empty(output: str) -> bool:
    """By whole lines: a description may hold any of these words."""
    return any(line.strip(" \t%*").lower().startswith(EMPTY) for line in output.splitlines())
