"""The target of a login at the console: a page of our own, never anything else. Pure."""

import re
from urllib.parse import unquote, urlencode

START = "/"
LOGIN = "/login"
MAX_LENGTH = 2048
# A path of plain segments (RFC 3986 3.3) and a query (3.4). Not in it: a second slash at the start, which
# browsers take for another host, backslashes, which they take for slashes, and all that is not ASCII.
_FORM = re.compile(
    r"/(?:(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+(?:/|(?=\?|\Z)))*"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
)
# What a proxy that decodes a path may make of it.
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f/\\#?]")
_DOTS = frozenset({".", ".."})
# No pages: answers of the API, its probes, files, and addresses that begin or end a login.
_NO_PAGES = frozenset({"api", "health", "login", "logout", "static", "metrics"})


def page_to(text: str | None) -> str:
    """Return the path and query if they are a page's; else the start page."""
    if text is None or len(text) > MAX_LENGTH or not _FORM.fullmatch(text):
        return START
    segments = [_decoded(segment) for segment in text.partition("?")[0].split("/")]
    if any(segment is None or segment in _DOTS or _CONTROL.search(segment) for segment in segments):
        return START
    return START if str(segments[1]).lower() in _NO_PAGES else text


def login_page(page: str, failed: str | None = None, *, path: str = LOGIN) -> str:
    """Return the address of the login that leads to the page; `failed`: why a login by redirect failed."""
    page = page_to(page)
    given = {"next": page if page != START else None, "failed": failed}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"{path}?{query}" if query else path


def _decoded(segment: str) -> str | None:
    """Return the decoded segment, None if it is encoded twice: how often a reader decodes it is unknown."""
    plain = unquote(segment)
    return plain if unquote(plain) == plain else None
