"""The checks of a request before its body is taken: its method, its headers, its token."""

from tornado.httputil import HTTPServerRequest

from netautod.core.errors import Forbidden, Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.core.identity.refusals import Refusal, TokenRefused
from netautod.http.access import Operation
from netautod.http.context import HttpContext
from netautod.http.errors import MethodNotAllowed, UnknownExpectation, UnsupportedEncoding, status_of

# The only routes for a caller who must first see to the own account.
OWN_ACCOUNT = "/api/auth/"


class Admission:
    """The checks of one request. What they refuse counts for the client's address."""

    def __init__(self, request: HTTPServerRequest, context: HttpContext, info: RequestInfo) -> None:
        self._request = request
        self._context = context
        self._info = info

    def count_anonymous(self) -> None:
        """Count the request for the client's address. Raises TooManyRequests."""
        self._context.limits.anonymous(self._info.ip_address)

    def check_method(self) -> None:
        """Raise MethodNotAllowed for a method without a declaration, unless it is a CORS preflight."""
        self.count_anonymous()
        origin = self._request.headers.get("Origin", "")
        if self._request.method != "OPTIONS" or not self._context.allows(origin):
            raise MethodNotAllowed("Method not allowed")

    def check_headers(self) -> None:
        """Raise UnknownExpectation or UnsupportedEncoding for headers of what we do not have."""
        headers = self._request.headers
        if headers.get("Expect", "100-continue").lower() != "100-continue":
            self.count_anonymous()
            raise UnknownExpectation("Expect: Only 100-continue is supported")
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            self.count_anonymous()
            raise UnsupportedEncoding("Content-Encoding: Send the body without compression or encoding")

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
