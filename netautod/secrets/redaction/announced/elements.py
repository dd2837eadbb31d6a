"""Values of the elements of XML, and the looks of what is no secret anywhere: stand-ins, public keys."""

import re
from collections.abc import Iterator

from netautod.secrets.redaction.announced.kinds import Kind
from netautod.secrets.redaction.announced.vocabulary import is_known

Span = tuple[int, int]
_XML_OPEN = re.compile(r'(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|\'[^\'<]*\'))*)\s*(?:/>|>)')
_XML_VALUE = re.compile(r"\s*(?P<secret><!\[CDATA\[.*?\]\]>|[^<]*[^<\s])")
_XML_ATTRIBUTE = re.compile(r'(?i)\svalue\s*=\s*(?P<secret>"[^"]+"|\'[^\']+\')')
STAND_IN = re.compile(
    r"[\"']?<?(?:secret(?::[0-9a-f]+)?|hidden|removed|redacted)>[\"']?[;,]?$|\*{3,}[\"']?[;,]?$|/\*$"
)
PUBLIC = re.compile(
    r"(?i)\"?'?(?:ssh-(?:rsa|dss|ed25519)\b|ecdsa-sha2-|sk-ssh-|sk-ecdsa-|AAAA[BCE]3?N|"
    r"-----BEGIN (?:[A-Z0-9 ]*PUBLIC KEY|"
    r"CERTIFICATE|X509|TRUSTED|PKCS7|NEW CERT)|---- BEGIN SSH2 PUBLIC|"
    r"(?:hash|lmdb|btree|cdb|texthash):/|[\w./:-]{1,200}\.(?:pub|"
    r"pem|crt|cer|key|p12|pfx|jks)(?=[\s\"';,]|$))"
)


def in_element(line: str, at: int, kind: Kind) -> Iterator[Span]:
    opening = _XML_OPEN.match(line, at)
    if opening is None:
        return
    attribute = _XML_ATTRIBUTE.search(line, at, opening.end())
    if attribute is not None:
        yield attribute.span("secret")
    value = _XML_VALUE.match(line, opening.end())
    if value is None or line[opening.end() - 2] == "/" or _is_shown(value["secret"], kind):
        return
    yield value.span("secret")


def _is_shown(value: str, kind: Kind) -> bool:
    plain = value.strip("\"' ").lower()
    return (
        STAND_IN.match(value) is not None
        or PUBLIC.match(value) is not None
        or (plain in kind.harmless and not kind.ids)
        or (kind.weak and is_known(plain))
        or plain in ("", "true", "false", "null", "none", "yes", "no", "{}", "[]")
    )
