"""A browser without scripts, and a page as what a person sees of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from tornado.httpclient import HTTPResponse
from tornado.httputil import HTTPHeaders

from netautod.console.base.form_tokens import FIELD, form_token
from netautod.console.base.pages import POLICY
from netautod.core.identity.caller import Caller
from netautod.identity.auth.pages.cookie import SESSION
from tests.support.fetching import fetch, with_values

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)

_BOUNDARY = b"----a-boundary-of-tests"


def _part(name: str, value: bytes, file_name: str = "") -> bytes:
    """Of a form with files (RFC 7578)."""
    of_file = f'; filename="{file_name}"\r\nContent-Type: text/plain' if file_name else ""
    head = f'Content-Disposition: form-data; name="{name}"{of_file}\r\n\r\n'
    return b"--" + _BOUNDARY + b"\r\n" + head.encode() + value + b"\r\n"


@dataclass(kw_only=True)
class Element:
    tag: str
    attributes: Mapping[str, str]
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Element] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        element = Element(tag=tag, attributes={name: value or "" for name, value in attrs})
        self.found.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.texts.append(data)


@dataclass(frozen=True, kw_only=True)
class LoadedPage:
    status: int
    headers: HTTPHeaders
    html: str

    @classmethod
    def of(cls, answer: HTTPResponse) -> "LoadedPage":
        return cls(status=answer.code, headers=answer.headers, html=answer.body.decode())

    @cached_property
    def elements(self) -> list[Element]:
        reader = _Reader()
        reader.feed(self.html)
        return reader.found

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """`class_` for class; an attribute has to be just that."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            each
            for each in self.elements
            if each.tag == tag and all(each.attributes.get(name) == value for name, value in wanted.items())
        ]

    @property
    def text(self) -> str:
        """All that can be read, without the head."""
        return self.all("body")[0].text

    @property
    def heading(self) -> str:
        (found,) = self.all("h1")
        return found.text

    @property
    def links(self) -> dict[str, str]:
        """Addresses by text; of several with one text the first."""
        return {each.text: each.attributes.get("href", "") for each in reversed(self.all("a"))}

    @property
    def controls(self) -> set[str]:
        """The texts of buttons."""
        return {each.text for each in self.all("button")}

    @property
    def rows(self) -> list[list[str]]:
        """The cells' texts of all rows of tables, without those of headings."""
        found: list[list[str]] = []
        for each in self.elements:
            if each.tag == "tr":
                found.append([])
            elif each.tag == "td" and found:
                found[-1].append(each.text)
        return [row for row in found if row]


@dataclass(frozen=True, kw_only=True)
class Browser:
    """`cookie`: that of its session."""

    base_url: str
    cookie: str
    caller: Caller

    async def get(
        self, path: str, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> LoadedPage:
        page = await self._fetch("GET", path, None, dict(headers or {}))
        assert page.status == status, (path, page.status, page.text[-1000:])
        return page

    async def post(
        self,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        status: int = 303,
        headers: Mapping[str, str] | None = None,
    ) -> LoadedPage:
        """A form with its token; `headers` replace those that a browser sends. Lists are several fields."""
        body = urlencode({FIELD: form_token(self.cookie), **(fields or {})}, doseq=True)
        sent = {
            "Origin": self.base_url,
            "Content-Type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        page = await self._fetch("POST", path, body, sent)
        assert page.status == status, (path, page.status, page.text[-1000:])
        return page

    async def upload(
        self,
        path: str,
        fields: Mapping[str, str] | None = None,
        files: Mapping[str, bytes] | None = None,
        *,
        status: int = 200,
    ) -> LoadedPage:
        """A form with files, sent as browsers do: line breaks of fields are CR LF."""
        given = {FIELD: form_token(self.cookie), **(fields or {})}
        parts = [_part(name, value.replace("\n", "\r\n").encode()) for name, value in given.items()]
        parts += [_part(name, value, f"{name}.txt") for name, value in (files or {}).items()]
        body = b"".join([*parts, b"--" + _BOUNDARY + b"--\r\n"])
        sent = {
            "Origin": self.base_url,
            "Content-Type": f"multipart/form-data; boundary={_BOUNDARY.decode()}",
        }
        page = await self._fetch("POST", path, body, sent)
        assert page.status == status, (path, page.status, page.html[:2000])
        return page

    async def _fetch(
        self, method: str, path: str, body: str | bytes | None, headers: dict[str, str]
    ) -> LoadedPage:
        sent = {"Accept": "text/html", "Cookie": f"{SESSION}={self.cookie}", **headers}
        answer = await fetch(self.base_url + path, method, body=body, headers=with_values(sent))
        if not path.startswith("/static/"):
            assert answer.headers["Content-Security-Policy"] == POLICY
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Request-Id"]
        return LoadedPage.of(answer)
