"""The comparison of redirect URIs with the listed ones, where a login by redirect may end."""

import re
from collections.abc import Iterable

LOOPBACK = re.compile(r"(?P<origin>https?://(?:127\.0\.0\.1|\[::1\]))(?P<port>:[0-9]{1,5})?(?P<rest>[/?].*)?")
PORT = re.compile(r":[1-9][0-9]{0,4}")
MAX_PORT = 65535
MAX_LENGTH = 2048


def is_listed(uri: str, entries: Iterable[str]) -> bool:
    """Return whether it equals an entry (RFC 9700 2.1); a loopback address matches any port (RFC 8252
    7.3)."""
    return any(uri == entry or _same_but_port(uri, entry) for entry in entries)


def _same_but_port(uri: str, entry: str) -> bool:
    loopback = LOOPBACK.fullmatch(entry)
    if loopback is None:
        return False
    origin, rest = loopback["origin"], loopback["rest"] or ""
    if not uri.startswith(origin) or not uri.endswith(rest) or len(uri) > MAX_LENGTH:
        return False
    # The URI is not parsed: between the two equal parts stands a port or nothing.
    middle = uri[len(origin) : len(uri) - len(rest)]
    if len(uri) < len(origin) + len(rest):
        return False
    return middle == "" or (PORT.fullmatch(middle) is not None and int(middle[1:]) <= MAX_PORT)
