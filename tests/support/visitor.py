"""A browser without scripts that keeps the cookies it is given: for who logs in as a person does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import Morsel, SimpleCookie
from typing import Any
from urllib.parse import urlencode

from netautod.console.base.form_tokens import FIELD
from netautod.console.base.pages import BY_ITSELF
from tests.support.fetching import fetch, with_values
from tests.support.installation import PASSWORD
from tests.support.pages import LoadedPage


@dataclass(kw_only=True)
class Visitor:
    """`headers` go with every request; `cookies` by name. `page` is the one that was loaded last."""

    base_url: str
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, Morsel[str]] = field(default_factory=dict)
    page: LoadedPage = field(init=False)

    def cookie(self, name: str = "netautod") -> str:
        """Empty without one."""
        return self.cookies[name].value if name in self.cookies else ""

    def hidden(self, name: str) -> str:
        """What the form of the page holds under the name."""
        return self.page.all("input", type="hidden", name=name)[0].attributes["value"]

    async def get(
        self, path: str, *, status: int = 200, by_itself: bool = False, **headers: str
    ) -> LoadedPage:
        """`by_itself`: as a script asks for news."""
        if by_itself:
            headers[BY_ITSELF] = "1"
        return await self.send("GET", path, status=status, headers=headers)

    async def post(
        self, path: str, fields: Mapping[str, Any], *, status: int = 303, headers: Mapping[str, str] = {}
    ) -> LoadedPage:
        """The form of the page, with its token unless another is given."""
        sent = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded", **headers}
        token = {} if FIELD in fields else {FIELD: self.hidden(FIELD)}
        body = urlencode({**token, **fields}, doseq=True)
        return await self.send("POST", path, body, status=status, headers=sent)

    @property
    def origin(self) -> str:
        """As a browser has it behind a proxy that ends TLS, or without one."""
        scheme = self.headers.get("X-Forwarded-Proto", "http")
        return f"{scheme}://{self.headers.get('X-Forwarded-Host', self.base_url.partition('://')[2])}"

    async def send(
        self,
        method: str,
        path: str,
        body: str | None = None,
        *,
        status: int,
        headers: Mapping[str, str] = {},
    ) -> LoadedPage:
        cookies = "; ".join(f"{name}={one.value}" for name, one in self.cookies.items())
        sent = {"Accept": "text/html", "Cookie": cookies, **self.headers, **headers}
        answer = await fetch(self.base_url + path, method, body=body, headers=with_values(sent))
        page = LoadedPage.of(answer)
        assert page.status == status, (method, path, page.status, page.html[:2000])
        if method == "GET" or page.html:
            self.page = page
        for line in answer.headers.get_list("Set-Cookie"):
            for name, morsel in SimpleCookie(line).items():
                if morsel["expires"] and not morsel["max-age"] and not morsel.value:
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel
        return page

    async def log_in(
        self, username: str = "admin", password: str = PASSWORD, *, path: str = "/login", status: int = 303
    ) -> LoadedPage:
        """Where it leads to is in `Location`."""
        await self.get(path)
        given = {"username": username, "password": password, "next": self.hidden("next")}
        return await self.post("/login", given, status=status)
