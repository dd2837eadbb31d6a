"""GET /api/docs-ui: one self-contained HTML page that shows /api/openapi.json in a browser."""

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass
from importlib.resources import files

from netautod.http.access import public
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

PAGE = "docs_page.html"


@dataclass(frozen=True, kw_only=True)
class DocsPage:
    """The page of the API. `policy`: the Content-Security-Policy that goes with it."""

    content: bytes
    policy: str

    @classmethod
    def read(cls) -> "DocsPage":
        text = files(__package__).joinpath(PAGE).read_text(encoding="utf-8")
        return cls(content=text.encode(), policy=content_security_policy(text))


class DocsPageHandler(JsonHandler):
    page: DocsPage

    @public(produces="text/html", name="get_description_page")
    async def get(self) -> None:
        """Show this description as a page for people."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Content-Security-Policy", self.page.policy)
        self.set_header("Referrer-Policy", "no-referrer")
        self.finish(self.page.content)


def content_security_policy(page: str) -> str:
    """Return the policy that allows the page's own script and style by their hashes, and calls to its own
    server.

    The hash is that of the text between the tags (https://www.w3.org/TR/CSP3/#grammardef-hash-source).
    """
    rules = ["default-src 'none'", "connect-src 'self'"]
    rules += [f"{name}-src {' '.join(_hashes(page, name))}" for name in ("script", "style")]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def _hashes(page: str, name: str) -> list[str]:
    texts = re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)
    digests = [hashlib.sha256(text.encode()).digest() for text in texts]
    return [f"'sha256-{b64encode(digest).decode()}'" for digest in digests]


ROUTES = (Route(path="/api/docs-ui", handler=DocsPageHandler),)
