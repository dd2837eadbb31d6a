"""The kinds of words that a form leaves to the caller; each is a closed set of characters.

None of them can hold what a shell, a pager or a redirection reads (`;|&<>$`, backslashes, `?`), nor begin
with a dash, which would make an option of it. `<quoted>` alone has quotes, and blanks in them. `<quoted>` and
`<either>` have `|` between texts to look for, none of which may be read as a filter that writes.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from netautod.core.net.device_addresses import ip_address, mac_address

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9_@+-]|\.(?!\.)){0,79}"
_PIECE = r"(?:[A-Za-z]{0,4}[0-9]{1,6}|[A-Z])"
_NUMBER = rf"[0-9]{{1,6}}(?:[/:.-]{_PIECE}){{0,8}}"
_TYPE = r"[0-9]{0,3}[A-Za-z][A-Za-z_-]{0,40}"
_QUOTED = r"[A-Za-z0-9_.:/=@%*+^,-]+"

KINDS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "number": re.compile(r"[0-9]{1,10}"),
        "name": re.compile(_NAME),
        "interface": re.compile(
            r"(?=[^A-Za-z]*[A-Za-z])(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{0,40}(?:[/:.-][A-Za-z0-9_]{1,20}){0,8}"
        ),
        "slot": re.compile(_NUMBER),
        "list": re.compile(r"[0-9]{1,5}(?:[,-][0-9]{1,5}){0,30}"),
        "ports": re.compile(r"[A-Za-z]{0,3}[0-9]{1,4}(?:[,/:-][A-Za-z]{0,3}[0-9]{1,4}){0,30}"),
        "object": re.compile(rf"/?{_NAME}(?:/{_NAME}){{0,4}}"),
        "pattern": re.compile(r"[A-Za-z0-9_^.:/=@%*+][A-Za-z0-9_.:/=@%*+$-]{0,79}"),
        "either": re.compile(rf"{_QUOTED}(?:\|{_QUOTED}){{1,20}}"),
        "plain": re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:/=@%+-]{0,79}"),
        "quoted": re.compile(rf'"(?=[^"]{{1,80}}"){_QUOTED}(?:[ |]{_QUOTED}){{0,20}}"'),
        "address": re.compile(r"[0-9A-Fa-f.:]{2,45}(?:/[0-9]{1,3})?"),
        "mac": re.compile(r"[0-9A-Fa-f.:-]{12,17}"),
    }
)

# Words that some platform reads as a command where our form has a name. An object so named is refused.
UNSAFE = re.compile(
    r"append|bash|clear|commit|configure|copy|debug|delete|edit|enable|erase|exec|execute|export|file"
    r"|follow|format|import|install|kill|load|monitor|move|no|parse|redirect|reboot|reload|rename"
    r"|request|reset|restart|rollback|run|save|set|sh|shell|shutdown|start|stop|su|sudo|tail|tee|test"
    r"|undebug|undo|update|upgrade|write"
)
# Filters that write, which may be abbreviated, and programs: a device that takes each `|` for a pipe, even
# within quotes, would do so.
_WRITING = ("append", "email", "file", "redirect", "save", "tee", "utility", "write")
_PROGRAMS = frozenset({"awk", "bash", "ftp", "scp", "sed", "sftp", "sh", "tftp", "vsh", "xargs"})


def matches(kind: str, word: str) -> bool:
    """Return whether the word is of that kind (a key of KINDS)."""
    if KINDS[kind].fullmatch(word) is None:
        return False
    match kind:
        case "address":
            return ip_address(word.partition("/")[0]) is not None
        case "mac":
            return mac_address(word) is not None
        case "either":
            return not _diverts(word)
        case "pattern" | "plain":  # a text to look for orders nothing, whatever it is
            return True
        case _:
            parts = re.split(r'[ |/"]', word.lower())
            return not _diverts(word) and not any(
                UNSAFE.fullmatch(part.rstrip("0123456789.:")) for part in parts
            )


def _diverts(word: str) -> bool:
    """Return whether what stands behind a `|` could be a program, or abbreviate a filter that writes."""
    programs = [part.strip(' "').partition(" ")[0].lower() for part in word.split("|")[1:]]
    return any(first in _PROGRAMS or any(one.startswith(first) for one in _WRITING) for first in programs)


def takes_two(kind: str, word: str, following: str) -> bool:
    """Return whether both words are one argument: `GigabitEthernet 1/0/1` is an interface."""
    if kind != "interface" or UNSAFE.fullmatch(word.lower()):
        return False
    return re.fullmatch(_TYPE, word) is not None and re.fullmatch(_NUMBER, following) is not None
