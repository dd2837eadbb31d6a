"""A browser of a few lines: cookies by origin and path, redirects one at a time, forms."""

from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

from tornado.httpclient import HTTPResponse

from tests.support.fetching import fetch


@dataclass(kw_only=True)
class Browser:
    cookies: dict[tuple[str, str, str], str] = field(default_factory=dict)

    async def open(self, url: str, form: dict[str, str] | None = None) -> HTTPResponse:
        """Send a GET, or a POST of a form; redirects are not followed."""
        headers = {"Accept": "text/html"}
        parts = urlsplit(url)
        sent = [
            f"{name}={value}"
            for (host, path, name), value in self.cookies.items()
            if host == parts.netloc and parts.path.startswith(path)
        ]
        if sent:
            headers["Cookie"] = "; ".join(sent)
        body = None if form is None else urlencode(form)
        answer = await fetch(url, "GET" if body is None else "POST", headers=headers, body=body)
        for line in answer.headers.get_list("Set-Cookie"):
            for name, cookie in SimpleCookie(line).items():
                self.cookies[parts.netloc, cookie["path"] or "/", name] = cookie.value
        return answer

    async def follow(self, url: str, form: dict[str, str] | None = None, *, until: str) -> str:
        """Return the first address on the way that begins with `until`; it is not opened."""
        answer = await self.open(url, form)
        for _ in range(10):
            location = answer.headers.get("Location")
            if location is None:
                raise AssertionError(f"{url} answered {answer.code} without redirect: {answer.body[:500]!r}")
            url = urljoin(url, location)
            if url.startswith(until):
                return url
            answer = await self.open(url)
        raise AssertionError("redirected without end")
