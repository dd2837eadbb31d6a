"""The answers to what never becomes a request: one shape with those of the handlers."""

from http import HTTPStatus

from netautod.core.json import values as json_values
from netautod.http.context import common_headers
from netautod.http.errors import RETRIED, RETRY_SECONDS

SHOWN = 200


class Refusal(Exception):
    """Raised for what cannot be served; the connection ends with this answer. 429 and 503 have
    Retry-After.
    """

    def __init__(self, status: int, text: str, *, retry_after: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
        self.retry_after = RETRY_SECONDS if retry_after is None and status in RETRIED else retry_after

    def answer(self, request_id: str, *, hsts: str | None = None) -> bytes:
        """Return the whole message, for a connection that ends after it. `hsts`:
        Strict-Transport-Security.
        """
        is_limit = self.status == HTTPStatus.TOO_MANY_REQUESTS
        seconds = {"retry_after_secs": self.retry_after} if is_limit else {}
        body = json_values.encode({"error": self.text, **seconds})
        headers = {
            **common_headers(request_id),
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        if hsts is not None:
            headers["Strict-Transport-Security"] = hsts
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + body
