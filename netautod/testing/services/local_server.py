"""An HTTP server on loopback for the tests of plugins: what a source, a provider or an executor asks."""

import json
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from netautod.testing.runs.fakes import http_answer
from netautod.transport.outbound.client import OutboundAnswer


@dataclass(frozen=True, kw_only=True)
class LocalRequest:
    """A request that came; `path` is with the query, the names in `headers` are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


LocalAnswer = Callable[[LocalRequest], OutboundAnswer]


class LocalServer:
    """A server, from `with` to its end at `url`; the settings must allow 127.0.0.1, as those of
    `netautod_service` do.

    `answers` are by path, or by method and path (`"POST /login"`, which comes first). Each is an
    OutboundAnswer, a function of the request that returns one, or a JSON value; all else is answered 404.
    `requests` are all that came. With `tls`, a context of a server, it speaks HTTPS.
    """

    def __init__(self, answers: Mapping[str, Any], *, tls: ssl.SSLContext | None = None) -> None:
        self.answers = dict(answers)
        self._tls = tls
        self.requests: list[LocalRequest] = []

    @property
    def url(self) -> str:
        """Return the URL, without a slash at the end."""
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if self._tls is not None:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, name="LocalServer", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: LocalRequest) -> OutboundAnswer:
        self.requests.append(request)
        path = request.path.partition("?")[0]
        for key in (f"{request.method} {path}", path):
            if key in self.answers:
                found = self.answers[key]
                if callable(found):
                    made: OutboundAnswer = found(request)
                    return made
                return found if isinstance(found, OutboundAnswer) else http_answer(json=found)
        return http_answer(status=404)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self._answer

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = LocalRequest(
                    method=self.command,
                    path=self.path,
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self.rfile.read(length),
                )
                made = answer(request)
                self.send_response(made.status)
                for name, value in made.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(made.body)))
                self.end_headers()
                self.wfile.write(made.body)

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):  # whatever the method
                    return self._serve
                raise AttributeError(name)

            def log_message(self, *_: Any) -> None:
                """Print nothing: tests print for themselves."""

        return Handler
