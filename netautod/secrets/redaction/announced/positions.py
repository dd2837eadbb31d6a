"""The secrets that equal a word of their command: there only the position identifies them.

Sources: the command references of the vendors named beside each position.
"""

import re
from collections.abc import Iterator

# What may stand before a value, if something follows.
_FORM = (
    r"(?:(?:encrypted|encryption-type|cipher|plain|clear|hash|md5|sha\d*(?:-password)?|scrypt|pbkdf2|\d{1,2})\s+(?=\S))*"
    r"(?!(?:encryption|policy|recovery|rollover|strength\S*)(?:\s|$)|\*)"
)
_MARKS = r"(?:(?:encrypted|clear|plain|key|auth-password|priv-password|localized|\d{1,2})\s+(?=\S))*"
_OF_A_USER = (
    rf"{_MARKS}(?:(?:md5|(?:sha[\d-]*|aes|3?des)(?:[\s-]?\d{{2,3}})?)\s+(?=\S))?{_MARKS}(?P<secret>\S+)"
)
_TABLE: tuple[tuple[str, str], ...] = (
    # IOS, ASA, EOS, NX-OS, FastIron, Dell.
    (
        "enable",
        rf"^\s*enable\s+(?:password|passwd|secret)\s+(?:(?:level|priv-lvl)\s+\d+\s+)?{_FORM}(?P<secret>\S+)",
    ),
    ("username", r"^\s*username\s+\S+\s.{0,80}?\b(?:password|secret)\s+\d{1,2}\s+(?P<secret>\S+)"),
    ("-server", r"\b(?:tacacs|radius)-server\b.{0,200}?\skey\s+(?:[067]\s+)?(?P<secret>\S+)\s*$"),
    ("key-string", r"^\s+key-string\s+(?:[067]\s+)?(?P<secret>\S+)\s*$"),
    ("message-digest-key", r"\bmessage-digest-key\s+\d+\s+md5\s+(?:[0367]\s+)?(?P<secret>\S+)\s*$"),
    ("authentication", r"\b(?:standby|vrrp|glbp)\s+(?:\S+\s+){0,3}?authentication\s+(?P<secret>text)\s*$"),
    # The community is the last of the words that may stand before it.
    (
        "host",
        r"^\s*snmp-server\s+host\s+\S+(?:\s+(?:traps|informs|version\s+(?:1|2c)|(?:vrf|use-vrf)\s+\S+)(?=\s))*?"
        r"\s+(?P<secret>traps?|informs?|(?<=\s(?:2c|.1)\s)version)\s*$",
    ),
    ("user", rf"\bsnmp-server\s+user\s.{{1,200}}?\sauth\s+{_OF_A_USER}"),
    ("user", rf"\bsnmp-server\s+user\s.{{1,200}}?\spriv\s+{_OF_A_USER}"),
)
_POSITIONS = tuple((word, re.compile(rf"(?i){pattern}")) for word, pattern in _TABLE)
# Words of which each line with a position has one.
HINT = re.compile(r"(?i)^\s*enable\s|username\s|-server\s|key-string|message-digest|standby|vrrp|glbp")


def in_position(line: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Yield the matches between `start` and `end`, each with the group `secret`."""
    if HINT.search(line, start, end) is None:
        return
    plain = line[start:end].lower()
    for word, position in _POSITIONS:
        if word in plain:
            yield from position.finditer(line, start, end)
