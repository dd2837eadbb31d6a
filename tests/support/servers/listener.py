"""A TCP server of the test that answers each connection with a function, in a thread of its own."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread


class Listener(ThreadingTCPServer):
    request_queue_size = 128
    connections = 0

    @property
    def url(self) -> str:
        return f"ldap://127.0.0.1:{self.server_address[1]}"

    def process_request(self, *request: object) -> None:
        self.connections += 1
        super().process_request(*request)  # type: ignore[arg-type]


@contextmanager
def listening(behaviour: Callable[[socket.socket], None]) -> Iterator[Listener]:
    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):  # the client goes away
                behaviour(self.request)

    with Listener(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            yield server
        finally:
            server.shutdown()
