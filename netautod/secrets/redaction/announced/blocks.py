"""Secrets that need more than their own line: private keys, values on the line below, names in a section.

Sources: RFC 7468 and RFC 4716 (armoured keys), the manual pages of OpenVPN and PuTTY (their key files),
FortiOS CLI Reference (config system snmp community: the name is the community),
RouterOS (export wraps lines).
"""

import re
from collections.abc import Iterator

from netautod.secrets.redaction.announced.exceptions import names_something
from netautod.secrets.redaction.announced.kinds import COMMUNITY, KEY, kind_of
from netautod.secrets.redaction.announced.vocabulary import is_known

Span = tuple[int, int]
_ARMOUR = re.compile(
    r"-{4,5} ?BEGIN (?P<what>[A-Za-z0-9 ]*(?:PRIVATE KEY(?: BLOCK)?|PRIVATE|SECRET|"
    r"Static key V\d|PKCS12|PFX))"
    r" ?-{4,5}(?P<secret>.*?)(?=-{4,5} ?END [A-Za-z0-9 ]*-{4,5}|\Z)",
    re.DOTALL,
)
_HAS_ARMOUR = re.compile(r"BEGIN [A-Za-z0-9 ]*(?:PRIVATE|SECRET|Static key|PKCS12|PFX)")
# The same once more in Base64: `-----BEGIN` of anything but a certificate.
_IN_BASE64 = re.compile(r"(?P<secret>LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM|BYNTA5|BDRVJ)[A-Za-z0-9+/=\n ]{16,})")
_PUTTY = re.compile(
    r"(?m)^Private-Lines: (?P<count>\d{1,3})\r?\n(?P<secret>(?:[A-Za-z0-9+/=]+\r?\n?){1,200})"
)
# A line that announces and ends in an opening sign: the value is on the next one.
_LINE_ENDS = re.compile(r"[=:>\[|+\\-][ \t]*\r?\n")
_OPEN = re.compile(
    r"(?P<word>[A-Za-z_][\w-]{1,79})[\"']?(?:(?P<xml>>)|[ \t]*(?P<sign>[=:]|=>)|(?P<blank>[ \t]))[ \t]*"
    r"(?P<list>[\[|>][-+]?|\\)?[ \t]*\r?\n$"
)
_LONGEST_OPEN = 128
_NEXT = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?P<secret>\"[^\"\n]*\"|'[^'\n]*'|[^\s<].*?)[ \t]*[,;]?[ \t]*(?=\r?\n|\Z|</)"
)
_MORE = re.compile(r"\r?\n[ \t]*(?:-[ \t]+)?(?P<secret>\"[^\"\n]*\"|'[^'\n]*')[ \t]*,?[ \t]*(?=\r?\n)")
_MEMBER = re.compile(r"[\"']?[\w.-]+[\"']?\s*[:=]|<|[}\])]|set |edit |next\b|end\b")
_FORTI_COMMUNITY = re.compile(r"(?m)^[ \t]*config system snmp community[ \t]*\r?$")
_FORTI_NAME = re.compile(r"[ \t]*set name (?P<secret>\"[^\"\n]*\"|\S+)")
# `show crypto isakmp key` of IOS: a table whose last column is the key.
_KEY_COLUMN = re.compile(
    r"(?m)\bPreshared Key[ \t]*\r?\n(?:[ \t]*\r?\n)?(?P<rows>(?:[^\S\n]*\S[^\n]*(?:\n|\Z))+)"
)
_LAST_COLUMN = re.compile(r"(?m)\s(?P<secret>\S+)[ \t]*\r?$")
# Junos as JSON and XML: the name of a community of SNMP is the community, that of one of BGP has members.
_JUNOS_COMMUNITY = re.compile(
    r"\"community\"\s*:\s*\[\s*\{\s*\"name\"\s*:\s*(?P<first>\"[^\"\n]*\")(?!\s*,\s*\"members\")"
    r"|\{\s*\"name\"\s*:\s*(?P<json>\"[^\"\n]*\")\s*,\s*\"(?:authorization|clients|client-list-name)\""
    r"|<community>\s*<name>(?P<xml>[^<\n]+)</name>(?!\s*<members)"
)
_CLOSING = re.compile(r"(?m)^[ \t]*(?P<word>config|end)\b")


def blocks(text: str) -> Iterator[Span]:
    """Yield where each block begins and ends in the whole text; in no order, and they may overlap."""
    if _HAS_ARMOUR.search(text):
        yield from (found.span("secret") for found in _ARMOUR.finditer(text))
    if "LS0tLS1CRUdJTi" in text:
        yield from (found.span("secret") for found in _IN_BASE64.finditer(text))
    if "Private-Lines: " in text:
        yield from (found.span("secret") for found in _PUTTY.finditer(text))
    yield from _on_next_lines(text)
    for table in _KEY_COLUMN.finditer(text):
        yield from (found.span("secret") for found in _LAST_COLUMN.finditer(text, *table.span("rows")))
    for community in _JUNOS_COMMUNITY.finditer(text):
        yield community.span(community.lastgroup or 0)
    for section in _FORTI_COMMUNITY.finditer(text):
        yield from _names_of_communities(text, section.end())


def _on_next_lines(text: str) -> Iterator[Span]:
    for ended in _LINE_ENDS.finditer(text):
        begin = max(text.rfind("\n", 0, ended.start()) + 1, ended.end() - _LONGEST_OPEN)
        opened = _OPEN.search(text, begin, ended.end())
        if opened is None:
            continue
        kind = kind_of(opened["word"])
        if (
            kind is None
            or (opened["blank"] and opened["list"] != "\\")
            or (opened["list"] == ">" and opened["xml"])
        ):
            continue
        if names_something(text, opened.start(), opened.end("word")) or (
            kind is COMMUNITY and opened["list"] == "["
        ):
            continue
        value = _NEXT.match(text, opened.end())
        if opened["xml"] and (value is None or not _is_element(text, opened, value.end())):
            continue
        if value is None or _MEMBER.match(value["secret"]):
            continue
        if opened["sign"] == ":" and not _is_deeper(text, opened.start(), opened.end()):
            continue
        if (kind.weak and is_known(value["secret"].strip("\"'").lower())) or (
            kind is KEY and value["secret"].isdigit()
        ):
            continue
        yield value.span("secret")
        more = _MORE.match(text, value.end()) if opened["list"] else None
        while more is not None:
            yield more.span("secret")
            more = _MORE.match(text, more.end())


def _is_element(text: str, opened: re.Match[str], at: int) -> bool:
    """Return whether the opening tag belongs to an element that ends behind the value, and not to a
    stand-in.
    """
    ends = re.compile(rf"\s*</(?:[\w-]+:)?{re.escape(opened['word'])}").match(text, at)
    return ends is not None and text[opened.start() - 1 : opened.start()] in ("<", ":")


def _is_deeper(text: str, word: int, following: int) -> bool:
    """Return whether the line at `following` is indented more than the one that holds `word`."""
    begin = text.rfind("\n", 0, word) + 1
    indent = re.compile(r"[ \t]*")
    own, next_one = indent.match(text, begin), indent.match(text, following)
    return own is not None and next_one is not None and len(next_one[0]) > len(own[0])


def _names_of_communities(text: str, at: int) -> Iterator[Span]:
    """Yield the names in a FortiOS section of communities: `set name`, but not in sections below it."""
    depth = 1
    begin = at
    while begin < len(text) and depth:
        begin = text.find("\n", begin) + 1 or len(text)
        closing = _CLOSING.match(text, begin)
        if closing is not None:
            depth += 1 if closing["word"] == "config" else -1
        name = _FORTI_NAME.match(text, begin) if depth == 1 else None
        if name is not None:
            yield name.span("secret")
