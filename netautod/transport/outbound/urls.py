"""The form of URLs that outgoing requests take: absolute, http or https, printable ASCII, no user name."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from netautod.transport.outbound.errors import AddressRefused

MAX_LENGTH = 8192
PORTS = {"http": 80, "https": 443}
PRINTABLE = re.compile(r"[\x21-\x7e]+")
# A host name in ASCII (RFC 1123, and the underscore that Windows allows), or what inet_aton takes for IPv4.
HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """An origin, which is scheme, host and port (RFC 6454): URLs of one origin count as one server."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def origin_of(url: str) -> Origin:
    """Return the origin of a URL. Raises AddressRefused for a malformed URL; the error never repeats
    the URL.
    """
    if len(url) > MAX_LENGTH or not PRINTABLE.fullmatch(url) or "\\" in url:
        raise AddressRefused("The URL must be printable ASCII without spaces or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressRefused("The URL is malformed") from error
    if parts.scheme not in PORTS:
        raise AddressRefused("The URL must begin with http:// or https://")
    if "@" in parts.netloc:
        raise AddressRefused("The URL must not contain a user name or password")
    host = (parts.hostname or "").lower()
    if port == 0 or parts.netloc.endswith(":") or not _is_host(host, bracketed="[" in parts.netloc):
        raise AddressRefused("The URL has no valid host and port")
    return Origin(scheme=parts.scheme, host=host, port=port or PORTS[parts.scheme])


def _is_host(host: str, *, bracketed: bool) -> bool:
    if not bracketed:
        return HOST.fullmatch(host) is not None
    try:
        ipaddress.IPv6Address(host)
    except ValueError:
        return False
    return "%" not in host
