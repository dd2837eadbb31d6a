"""Follows every link of the console over HTTP, as a person with a session and without scripts."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from tornado.httpclient import HTTPResponse

from netautod.identity.auth.pages.cookie import SESSION
from tests.support.fetching import fetch
from tests.support.pages import LoadedPage

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Of addresses of one form, as the pages of sixty devices that nobody has read, the first so many.
MOST_ALIKE = 6
HTML = "text/html"


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """Somebody with the cookie of a session, who sends what no browser would."""

    base_url: str
    cookie: str

    async def fetch(
        self, path: str, *, headers: Mapping[str, str] | None = None, body: str | None = None
    ) -> HTTPResponse:
        """With a body a form is posted; `headers` are added, an Origin among them if there is to be one."""
        sent = {"Cookie": f"{SESSION}={self.cookie}", "Accept": HTML, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        return await fetch(
            self.base_url + path, "GET" if body is None else "POST", body=body, headers=sent, seconds=60
        )


@dataclass(frozen=True, kw_only=True)
class Met:
    """An answer on the way; `on`: the page with the link to it."""

    path: str
    on: str
    status: int
    content: bytes
    page: LoadedPage | None

    def __str__(self) -> str:
        return f"{self.status} {self.path} (linked on {self.on})"


@dataclass(kw_only=True)
class Crawl:
    """`met` in the order in which links were found; a redirect is followed once, to an address of ours."""

    visitor: Visitor
    met: list[Met] = field(default_factory=list)
    alike: Counter[str] = field(default_factory=Counter)

    async def run(self, start: str = "/") -> "Crawl":
        waiting, seen = deque([(start, "nothing")]), {start}
        while waiting:
            path, on = waiting.popleft()
            for found in self._further(await self.visit(path, on)):
                if found not in seen:
                    seen.add(found)
                    if self._is_new(found):
                        waiting.append((found, path))
        return self

    async def visit(self, path: str, on: str) -> Met:
        answer = await self.visitor.fetch(path)
        is_page = answer.headers.get("Content-Type", "").startswith(HTML)
        page = LoadedPage.of(answer) if is_page else None
        content = answer.body + str(list(answer.headers.get_all())).encode()
        self.met.append(Met(path=path, on=on, status=answer.code, content=content, page=page))
        return self.met[-1]

    def _further(self, met: Met) -> Iterator[str]:
        """What its links, its forms of filters and its redirect lead to, without fragments."""
        if met.page is None:
            return
        for address in addresses_of(met.page):
            whole = urlsplit(urljoin(self.visitor.base_url + met.path, address))
            if f"{whole.scheme}://{whole.netloc}" == self.visitor.base_url:
                yield f"{whole.path}?{whole.query}" if whole.query else whole.path

    def _is_new(self, path: str) -> bool:
        whole = urlsplit(path)
        names = sorted({name for name, _ in parse_qsl(whole.query, keep_blank_values=True)})
        form = f"{UUID.sub(':', whole.path)} {names}"
        self.alike[form] += 1
        return self.alike[form] <= MOST_ALIKE


class HasVisitor(Protocol):
    async def visitor(self, username: str) -> Visitor: ...


@dataclass(frozen=True, kw_only=True)
class Crawls:
    """One crawl of each person, whoever asks for it."""

    done: dict[str, Crawl] = field(default_factory=dict)

    async def of(self, username: str, people: HasVisitor) -> Crawl:
        if username not in self.done:
            self.done[username] = await Crawl(visitor=await people.visitor(username)).run()
        return self.done[username]


def addresses_of(page: LoadedPage) -> Iterable[str]:
    for element in page.elements:
        attributes = element.attributes
        if element.tag == "a" and "href" in attributes:
            yield attributes["href"]
        elif element.tag in ("link", "script", "img"):
            yield attributes.get("href") or attributes.get("src", "")
        elif element.tag == "form" and attributes.get("method", "get").lower() == "get":
            yield f"{attributes.get('action', '')}?{urlencode({'q': 'core'})}"
    if "Location" in page.headers:
        yield page.headers["Location"]
