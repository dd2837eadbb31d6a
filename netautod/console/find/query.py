"""The interpretation of a text that a user types or pastes into the search box. Pure."""

import re
from dataclasses import dataclass

from netautod.core.net.device_addresses import ip_address, mac_address

# Digits of a MAC address in groups of any size, as people and programs write them: `0:1b:21:aa:bb:c` of
# Solaris and macOS arp(8) leaves zeros out.
_SEPARATED = re.compile(r"[0-9a-f]{1,2}(?:[:.\- ][0-9a-f]{1,2}){5}")
_DIGITS = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, kw_only=True)
class SearchText:
    """A search; `mac` and `ip` have the form of discovered tables, None if the text is no such address."""

    text: str
    mac: str | None = None
    ip: str | None = None


def parse_text(text: str) -> SearchText:
    whole = text.strip()
    return SearchText(text=whole, mac=typed_mac(whole), ip=typed_ip(whole))


def typed_mac(text: str) -> str | None:
    lower = text.strip().lower()
    if _SEPARATED.fullmatch(lower):
        return mac_address(":".join(part.zfill(2) for part in re.split(r"[:.\- ]", lower)))
    digits = re.sub(r"[:.\- ]", "", lower)
    return mac_address(digits) if _DIGITS.fullmatch(digits) else None


def typed_ip(text: str) -> str | None:
    """Return the IP address of the text.

    The address may stand in brackets, as in a URL, and have a prefix length, a zone or a port behind the
    brackets.
    """
    bare = text.strip()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    return ip_address(bare.partition("/")[0].partition("%")[0])
