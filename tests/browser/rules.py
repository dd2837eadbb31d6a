"""What every answer of the console is held to, whichever test asks for it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from playwright.async_api import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
OF_PAGES = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
OF_FILES = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}
NOT_OURS = ("/api", "/health")


def headers_of_the_console(answer: Response) -> Iterator[str]:
    """Of pages and their parts one set of headers, of static files another."""
    path = urlsplit(answer.url).path
    if path.startswith(NOT_OURS) or not answer.url.startswith("http"):
        return
    wanted = OF_FILES if path.startswith("/static/") and answer.ok else OF_PAGES
    for name, value in wanted.items():
        if answer.headers.get(name) != value:
            yield f"{name} is {answer.headers.get(name)!r}"
    if "x-request-id" not in answer.headers:
        yield "it has no X-Request-Id"
