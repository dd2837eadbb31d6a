"""The checks of a request before its body is taken: its method, its headers, its token."""

from tornado.httputil import HTTPServerRequest

from netautod.core.errors import Forbidden, Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import Refusal, TokenRefused
from netautod.core.json.values import named
from netautod.http.access import JSON, Operation
from netautod.http.context import HttpContext
from netautod.http.errors import (
    MethodNotAllowed,
    Misdirected,
    UnknownExpectation,
    UnsupportedBody,
    status_of,
)

# The only routes for a caller who must first see to the own account.
OWN_ACCOUNT = "/api/auth/"
# Methods that change nothing (RFC 9110 9.2.1), which pages of other origins can send without asking.
SAFE = ("GET", "HEAD", "OPTIONS")
FOREIGN_PAGE = (
    "A page of another origin may not send this; server.cors_origins lists those that may call the API"
)


class Admission:
    """The checks of one request. What they refuse counts for the client's address."""

    def __init__(self, request: HTTPServerRequest, context: HttpContext, info: RequestInfo) -> None:
        self._request = request
        self._context = context
        self._info = info

    def count_anonymous(self) -> None:
        """Count the request for the client's address. Raises TooManyRequests."""
        self._context.limits.anonymous(self._info.ip_address)

    def check_host(self) -> None:
        """Raise Misdirected for a request to a host that is none of `server.hosts`."""
        if not self._context.serves(self._request):
            host = self._context.host(self._request)
            raise Misdirected(f"Host: {named(host)!r} is not in server.hosts, the names of this service")

    def check_origin(self, *, listed: bool) -> None:
        """Raise Forbidden for a change that a page of another origin sends. `listed`: cors_origins may.

        Browsers send Origin with every such request (Fetch, "append a request Origin header"); a client that
        sends none is no browser, or says by Sec-Fetch-Site that the page is of another site. It counts for
        nothing and its body is not read: the user who has the page open would pay for what the page sends.
        """
        headers = self._request.headers
        if self._request.method in SAFE:
            return
        origins = headers.get_list("Origin")
        if not origins:
            own = headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        else:
            own = len(origins) == 1 and (
                self._context.is_own(origins[0], self._request)
                or (listed and self._context.allows(origins[0]))
            )
        if not own:
            raise Forbidden(FOREIGN_PAGE)

    def check_method(self) -> None:
        """Raise MethodNotAllowed for a method without a declaration, unless it is a CORS preflight."""
        self.count_anonymous()
        origin = self._request.headers.get("Origin", "")
        if self._request.method != "OPTIONS" or not self._context.allows(origin):
            raise MethodNotAllowed("Method not allowed")

    def check_headers(self) -> None:
        """Raise UnknownExpectation or UnsupportedBody for headers of what we do not have."""
        headers = self._request.headers
        if headers.get("Expect", "100-continue").lower() != "100-continue":
            self.count_anonymous()
            raise UnknownExpectation("Expect: Only 100-continue is supported")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            self.count_anonymous()
            raise UnsupportedBody("Content-Encoding: Send the body without compression or encoding")

    def check_media_type(self, operation: Operation) -> None:
        """Raise UnsupportedBody for a body that says to be of a type that the operation does not take.

        A page of any site can have a browser send text/plain and the like without asking (Fetch,
        "CORS-safelisted request-header").
        """
        sent = self._request.headers.get("Content-Type", "").strip()
        if operation.takes_json and sent and sent.partition(";")[0].rstrip().lower() != JSON:
            raise UnsupportedBody(
                f"Content-Type: {named(sent)!r} is not taken here; send JSON with the header "
                f"`Content-Type: {JSON}`"
            )

    def bearer_token(self) -> str:
        """Return the token of the request. Raises Unauthenticated if there is none."""
        scheme, _, token = self._request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            self.count_anonymous()
            raise Unauthenticated("Authentication required")
        return token.strip()

    def check_account(self, caller: Caller) -> None:
        """Raise Forbidden for a caller who must first see to the own account, but at its routes."""
        if not self._request.path.startswith(OWN_ACCOUNT):
            caller.require_unblocked()

    async def record_refusal(
        self,
        error: Unauthenticated | Forbidden,
        operation: Operation | None,
        *,
        route: str,
        caller: Caller | None,
    ) -> None:
        """Record a refusal for want of a permission or a good token, before it is answered.

        A request without a token is not recorded; a wrong password at a public route is by what checks it.
        """
        is_token = isinstance(error, TokenRefused)
        offered = "Authorization" in self._request.headers and operation is not None and not operation.public
        if isinstance(error, Unauthenticated) and not is_token and not offered:
            return
        await self._context.refusals.record(
            Refusal(
                status=status_of(error),
                reason=error.text,
                method=self._request.method or "",
                route=route,
                permission=operation.permission if operation is not None else None,
                caller=error.caller if isinstance(error, TokenRefused) else caller,
                info=self._info,
            )
        )
