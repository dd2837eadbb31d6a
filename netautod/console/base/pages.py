"""The base of all pages: who may see them, forms and redirects, and errors that a person can read."""

import asyncio
import gzip
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from netautod.console.base import form_tokens
from netautod.console.base.forms import Form, read_form
from netautod.console.base.navigation import links_for
from netautod.console.base.rendering import Renderer
from netautod.core.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    PreconditionFailed,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    UpstreamFailed,
)
from netautod.core.loop.pace import in_thread_if_large
from netautod.http.access import Operation
from netautod.http.errors import status_of
from netautod.http.handler import JsonHandler
from netautod.http.routing.unknown_route import UnknownRouteHandler
from netautod.identity.auth.pages.cookie import SESSION, cookie_name, give_cookie
from netautod.identity.auth.pages.targets import login_page

T = TypeVar("T")
POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
# Binds the forms of a visitor without a session.
VISITOR = "netautod_form"
NOTICE = "netautod_told"
# Sent by a live page that refreshes itself: such a request keeps no session alive.
BY_ITSELF = "X-Live"
ACCOUNT = "/account"
# Reachable for a caller who has to change something in the account first.
OWN_ACCOUNT = ("/account", "/logout")
# The hidden field with the state of the record that a form was loaded from.
TAG = "_tag"
CHANGED = "The record was changed while the form was open"
# Errors that a user can correct in the form.
CORRECTABLE = (
    Forbidden,
    InvalidInput,
    Conflict,
    PreconditionFailed,
    TooLarge,
    TooManyRequests,
    UpstreamFailed,
)
_LONGEST_NOTICE = 300
_COMPRESSED = 1024  # bytes; what is shorter is not worth it


class PageHandler(JsonHandler):
    """A page of the console, errors included. Methods are declared as those of the API are, with the same
    permissions. `page_status`: the status of the page that is shown.
    """

    renderer: Renderer
    # Pages are for the browser's own window.
    serves_listed_origins = False
    # A page of up to thousands of elements, or of a long text, is made in a thread: it would hold the loop.
    large = False
    form = Form()
    error = ""
    notice = ""
    page_status = 200
    _shown: tuple[str, Mapping[str, Any]] | None = None
    _visitor = ""

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Content-Security-Policy", POLICY)
        # With no-referrer browsers send `Origin: null` along with our own forms.
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Vary", "Cookie, Accept-Encoding")

    @property
    def is_secure(self) -> bool:
        return self.context.scheme(self.request) == "https"

    def cookie_name(self, name: str) -> str:
        return cookie_name(name, secure=self.is_secure)

    def cookie(self, name: str) -> str:
        return self.get_cookie(self.cookie_name(name)) or ""

    def keep_cookie(self, name: str, value: str, *, max_age: int | None = None) -> None:
        """Set a cookie for `max_age` seconds; None: until the browser is closed."""
        give_cookie(self, name, value, secure=self.is_secure, max_age=max_age)

    def drop_cookie(self, name: str) -> None:
        self.clear_cookie(self.cookie_name(name), path="/", secure=self.is_secure, httponly=True)

    def show(self, template: str, **values: Any) -> None:
        """Set the page that is sent when the method returns; `title` is among the values."""
        self._shown = (template, values)

    def redirect_to(self, path: str) -> None:
        """Send the browser to that page after a form (303, RFC 9110 15.4.4)."""
        self.set_status(303)
        self.clear_header("Content-Type")
        self.set_header("Location", path)
        self.finish()

    async def send_answer(self) -> None:
        if self._shown is not None:
            self.set_status(self.page_status)
            template, values = self._shown
            framed = {**self._frame(), **values}
            if self.large:
                self._finish_page(*await asyncio.to_thread(self._made, template, framed))
            else:
                self._finish_page(*self._made(template, framed))
        else:
            await super().send_answer()

    def finish_html(self, template: str, values: Mapping[str, Any]) -> None:
        self._finish_page(*self._made(template, {**self._frame(), **values}))

    def _made(self, template: str, values: Mapping[str, Any]) -> tuple[bytes, bool]:
        """Render the page; return it, and whether it is compressed."""
        content = self.renderer.render(template, values).encode("utf-8", "replace")
        if len(content) >= _COMPRESSED and "gzip" in self.request.headers.get("Accept-Encoding", ""):
            return gzip.compress(content, compresslevel=4, mtime=0), True
        return content, False

    def _finish_page(self, content: bytes, compressed: bool) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        if compressed:
            self.set_header("Content-Encoding", "gzip")
        self.finish(content)

    def send_error_body(self, body: dict[str, Any]) -> None:
        title = HTTPStatus(self.get_status()).phrase
        self.finish_html("error.html", {"title": title, "text": body["error"]})

    def query_texts(self) -> dict[str, str]:
        """Return the query as it was sent, for the links of the page."""
        sent = self.request.query_arguments
        return {name: values[-1].decode("utf-8", "replace") for name, values in sent.items()}

    def form_cookie(self) -> str:
        """Return the cookie that the tokens of forms are bound to: the session, or a visitor's cookie without
        one.
        """
        if getattr(self, "caller", None) is not None:
            return self.cookie(SESSION)
        return self._visitor or self.cookie(VISITOR)

    def begin_visit(self) -> None:
        """Give a visitor without a session the cookie that a form needs.

        Call this before showing the form.
        """
        if not self.form_cookie():
            self._visitor = secrets.token_urlsafe(32)
            self.keep_cookie(VISITOR, self._visitor)

    def _frame(self) -> Mapping[str, Any]:
        """Return the values for the frame around each page, and for its forms."""
        caller, cookie = getattr(self, "caller", None), self.form_cookie()
        return {
            "me": caller,
            "links": [] if caller is None else links_for(caller),
            "path": self.request.path,
            "route": self.route,
            "query": self.query_texts(),
            "form": self.form,
            "error": self.error,
            "notice": self.notice,
            "now": datetime.now(UTC),
            "request_id": self.request_id,
            "xsrf": form_tokens.form_token(cookie) if cookie else "",
        }

    async def prepare(self) -> None:
        await self.renderer.load()
        await super().prepare()
        if self.request.method == "GET" and not self.by_itself:
            self._take_notice()

    @property
    def by_itself(self) -> bool:
        """Return whether a live page sends the request to refresh itself, not a person."""
        return BY_ITSELF in self.request.headers

    async def admit(self, operation: Operation) -> None:
        cookie = self.cookie(SESSION)
        if not cookie:
            self.admission.count_anonymous()
            raise Unauthenticated("Authentication required")
        self.identify(await self.context.caller_of_page(cookie, self.info, by_person=not self.by_itself))
        if self.caller.blocked is not None and not self._is_of_account():
            raise AccountFirst(self.caller.blocked)
        if operation.permission is not None:
            self.caller.require(operation.permission)

    def _is_of_account(self) -> bool:
        return any(self.request.path == own or self.request.path.startswith(f"{own}/") for own in OWN_ACCOUNT)

    async def load_request(self, operation: Operation) -> None:
        await super().load_request(operation)
        if operation.consumes is not None:
            body, kind = self.take_body(), self.request.headers.get("Content-Type", "")
            self.form = await in_thread_if_large(len(body), read_form, body, kind)
        if self.request.method == "POST":
            form_tokens.require_form_token(self.form.secret(form_tokens.FIELD), self.form_cookie())

    def sent_query(self) -> Mapping[str, list[bytes]]:
        """Return the query without the empty fields of filter forms, which browsers send along."""
        return {name: values for name, values in super().sent_query().items() if values[-1].strip()}

    async def submit(self, work: Awaitable[str | None], again: Callable[[], Awaitable[None]]) -> None:
        """Run the work of a form and go to the page that it returns, unless it shows one itself.

        After an error that a user can correct, `again` shows the form with what was sent, the error and its
        status.
        """
        try:
            path = await work
        except CORRECTABLE as error:
            self.error, self.page_status = error.text, status_of(error)
            if isinstance(error, Forbidden):
                await self.record_refusal(error)
            if isinstance(error, TooManyRequests):
                self.retry_seconds = max(1, error.retry_after)  # of the status, which is set with the page
            await again()
        else:
            if path is not None:
                self.redirect_to(path)

    def if_unchanged(self, tag: Callable[[T], str]) -> Callable[[T], None] | None:
        """Return the check that a service runs on a record before it changes it.

        The check raises PreconditionFailed if the record is no longer as the form was loaded. None for a form
        that does not say what it was loaded from.
        """
        given = self.form.text(TAG)
        if not given:
            return None

        def check(record: T) -> None:
            if tag(record) != given:
                raise PreconditionFailed(CHANGED)

        return check

    def require_unchanged(self, tag: str) -> None:
        """Raise Conflict if the form was loaded from another state of the record than the one with this tag.

        This is for records without conditional requests; the service has to find a change at the same moment.
        """
        if self.form.text(TAG, tag) != tag:
            raise Conflict(f"{CHANGED}; the form shows what you sent, load the page again for the record")

    async def check_trace(self, operation: Operation) -> None:
        """Record a change without an event, unless the form is shown again and nothing was changed."""
        if self.page_status < 400:
            await super().check_trace(operation)

    def set_notice(self, notice: str) -> None:
        """Set the notice that the next page shows above its content, as "Device saved"."""
        self.keep_cookie(NOTICE, quote(notice[:_LONGEST_NOTICE]), max_age=60)

    def _take_notice(self) -> None:
        notice = self.cookie(NOTICE)
        if notice:
            self.notice = unquote(notice)[:_LONGEST_NOTICE]
            self.drop_cookie(NOTICE)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs["exc_info"][1] if "exc_info" in kwargs else None
        if isinstance(error, AccountFirst) and not self.by_itself:
            self.redirect_to(ACCOUNT)
        elif isinstance(error, Unauthenticated) and not self.by_itself:
            self.redirect_to(self._login_path())
        else:
            super().write_error(status_code, **kwargs)

    def _login_path(self) -> str:
        """Return the address of the login, after which the wanted page opens.

        For a form that is the overview, because the page that it was on is not known.
        """
        wanted = (self.request.uri or "/") if self.request.method in ("GET", "HEAD") else "/"
        return login_page(wanted)


class AccountFirst(Forbidden):
    """The refusal of a page because the user has to change something in the account first."""


class UnknownPageHandler(UnknownRouteHandler, PageHandler):
    """The answer where no route matches: a page for a browser, JSON for every other client."""

    def send_error_body(self, body: dict[str, Any]) -> None:
        path, accepted = self.request.path, self.request.headers.get("Accept", "")
        if "text/html" not in accepted or path == "/api" or path.startswith(("/api/", "/health")):
            JsonHandler.send_error_body(self, body)
        else:
            PageHandler.send_error_body(self, body)
