"""The URLs of requests: made from the user's URL alone, never from links in answers.

NetBox builds its `next` links from the Host header, which a proxy or an attacker may have changed; following
one would send the token wherever it points.
"""

from collections.abc import Iterable
from urllib.parse import urlencode, urlsplit

from netautod.plugin_api import AddressRefused

Query = tuple[tuple[str, str], ...]


def base_of(url: str) -> str:
    """Return the address of the web interface: without a trailing slash or `/api`, with any path prefix.

    Raises AddressRefused for one with a query or fragment: such a URL was copied from somewhere else.
    """
    if "?" in url or "#" in url:
        raise AddressRefused("The URL must not contain a query or a fragment")
    try:
        path = urlsplit(url).path
    except ValueError as error:
        raise AddressRefused("The URL is malformed") from error
    prefix = path.rstrip("/").removesuffix("/api").rstrip("/")
    return url[: len(url) - len(path)] + prefix


def url_of(base: str, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
    """Build a URL of the API. `path` such as `dcim/devices`; Django wants the trailing slash and would
    redirect without it.
    """
    encoded = urlencode(tuple(query))
    return f"{base}/api/{path}/" + (f"?{encoded}" if encoded else "")
