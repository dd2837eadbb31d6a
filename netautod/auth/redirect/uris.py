"""Where a login by redirect may end: the allow-list of redirect URIs (RFC 9700 2.1, RFC 8252 7.3)."""

import re
from collections.abc import Iterable

ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*://[\x21-\x7e]+")
# What a browser runs or opens locally instead of going there.
DANGEROUS = ("javascript:", "data:", "vbscript:", "file:", "blob:", "about:", "view-source:", "filesystem:")
LOOPBACK = re.compile(r"(?P<origin>https?://(?:127\.0\.0\.1|\[::1\]))(?P<port>:[0-9]{1,5})?(?P<rest>[/?].*)?")
PORT = re.compile(r":[1-9][0-9]{0,4}")
MAX_PORT = 65535
MAX_LENGTH = 2048


def uri_mistake(uri: str) -> str | None:
    """Why an entry of the allow-list is none; None if it is fine."""
    if not ABSOLUTE.fullmatch(uri) or len(uri) > MAX_LENGTH or uri.startswith(DANGEROUS):
        return "is not an absolute URI"
    if "#" in uri or "\\" in uri or "*" in uri:
        return "must have no fragment, backslash or wildcard"
    if "@" in uri.split("://", 1)[1].split("/", 1)[0]:
        return "must have no user name"
    return None


def is_listed(uri: str, entries: Iterable[str]) -> bool:
    """Equal to an entry, character by character; an entry on a loopback address matches any port."""
    return any(uri == entry or _same_but_port(uri, entry) for entry in entries)


def _same_but_port(uri: str, entry: str) -> bool:
    loopback = LOOPBACK.fullmatch(entry)
    if loopback is None:
        return False
    origin, rest = loopback["origin"], loopback["rest"] or ""
    if not uri.startswith(origin) or not uri.endswith(rest) or len(uri) > MAX_LENGTH:
        return False
    # The URI is not parsed: what stands between the two equal parts is a port or nothing.
    middle = uri[len(origin) : len(uri) - len(rest)]
    if len(uri) < len(origin) + len(rest):
        return False
    return middle == "" or (PORT.fullmatch(middle) is not None and int(middle[1:]) <= MAX_PORT)
