"""An HTTP client that ends with the headers of an answer, whatever would follow them."""

from tornado.httputil import HTTPHeaders, RequestStartLine, ResponseStartLine
from tornado.simple_httpclient import SimpleAsyncHTTPClient, _HTTPConnection

# RFC 9110, 15.2: informational answers come before the answer.
_FIRST_FINAL_STATUS = 200


class StatusClient(SimpleAsyncHTTPClient):
    """A client whose answers have no body: it is not read, and the connection is closed before it."""

    def _connection_class(self) -> type:
        return _StatusConnection


class _StatusConnection(_HTTPConnection):
    async def headers_received(
        self, first_line: ResponseStartLine | RequestStartLine, headers: HTTPHeaders
    ) -> None:
        await super().headers_received(first_line, headers)
        if self.code is not None and self.code >= _FIRST_FINAL_STATUS:
            self.connection.detach()  # nothing reads what follows
            self.finish()
