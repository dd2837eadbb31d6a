"""The canonical form of a user's ids in directories: LDAP names (RFC 4514), entry UUIDs, OIDC subjects.

Servers send names back otherwise than they were typed (`\\,` as `\\2C`, spaces, case), so that they are
compared in a canonical form only. It is for comparing: types and values are folded, nothing is looked up.
"""

import re
import unicodedata
from typing import overload

from netautod.core.schema.bases import uuid_or_none

LDAP = "ldap"
TYPE = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[0-9]+(\.[0-9]+)*")
HEX_PAIR = re.compile(r"[0-9A-Fa-f]{2}")
SPECIAL = frozenset(',+"\\<>;=')


@overload
def canonical_external_id(provider: str, text: str) -> str: ...
@overload
def canonical_external_id(provider: str, text: None) -> None: ...
def canonical_external_id(provider: str, text: str | None) -> str | None:
    """Return the form that is stored and compared.

    For LDAP that is an entry's UUID in lower case or its canonical name; other text is returned unchanged.
    """
    if text is None or provider != LDAP:
        return text
    return uuid_or_none(text.strip()) or canonical_name(text) or text


def canonical_name(text: str) -> str | None:
    r"""Return the canonical form of an LDAP name, None if the text is none.

    `CN=Doe\2C  Jane , DC=Example` becomes `cn=doe\,jane,dc=example`.
    """
    parts = _parsed(text)
    if parts is None:
        return None
    return ",".join("+".join(f"{kind}={_escaped(value)}" for kind, value in sorted(part)) for part in parts)


def first_value(text: str) -> str | None:
    """Return the folded value of the name's first part, if that is a single one: `admins` for
    `cn=Admins,ou=x`.
    """
    parts = _parsed(text)
    return parts[0][0][1] if parts and len(parts[0]) == 1 else None


def folded(text: str) -> str:
    """Fold the text for a comparison without regard to case and number of spaces (caseIgnoreMatch, RFC 4517
    4.2.11).
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _parsed(text: str) -> list[list[tuple[str, str]]] | None:
    """Parse the parts from left to right, each of one or more (type, folded value) pairs; None if invalid."""
    parts: list[list[tuple[str, str]]] = []
    for part in _split(text, ",;"):
        pairs = [_pair(piece) for piece in _split(part, "+")]
        found = [pair for pair in pairs if pair is not None]
        if len(found) != len(pairs):
            return None
        parts.append(found)
    return parts


def _split(text: str, separators: str) -> list[str]:
    """Split at the separators that are not escaped and not between quotes (quotes: RFC 2253)."""
    pieces, start, quoted, index = [], 0, False, 0
    while index < len(text):
        character = text[index]
        if character == "\\":
            index += 1
        elif character == '"':
            quoted = not quoted
        elif character in separators and not quoted:
            pieces.append(text[start:index])
            start = index + 1
        index += 1
    return [*pieces, text[start:]]


def _pair(text: str) -> tuple[str, str] | None:
    kind, equals, value = text.partition("=")
    kind = kind.strip().lower().removeprefix("oid.")
    if not equals or not TYPE.fullmatch(kind):
        return None
    plain = _unescaped(value.strip(" "))
    return None if plain is None else (kind, folded(plain))


def _unescaped(text: str) -> str | None:
    """Return the value without escapes and quotes; None if it is not valid."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    found, index = bytearray(), 0
    while index < len(text):
        if text[index] != "\\":
            found += text[index].encode("utf-8", "surrogatepass")
            index += 1
        elif HEX_PAIR.fullmatch(text[index + 1 : index + 3]):
            found.append(int(text[index + 1 : index + 3], 16))
            index += 3
        elif index + 1 < len(text):
            found += text[index + 1].encode("utf-8", "surrogatepass")
            index += 2
        else:
            return None
    try:
        return found.decode()
    except UnicodeDecodeError:
        return None


def _escaped(value: str) -> str:
    return "".join(f"\\{character}" if character in SPECIAL else character for character in value)
