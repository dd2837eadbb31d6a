"""A TCP server of the test that answers each connection with a function, in a thread of its own."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Listener:
    def __init__(self, behaviour: Callable[[socket.socket], None]) -> None:
        self._behaviour = behaviour
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"ldap://127.0.0.1:{self._socket.getsockname()[1]}"
        self.ended = threading.Event()
        self.connections = 0
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed before this thread began to wait
                return
            if self.ended.is_set():
                connection.close()
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self.threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client goes away
            self._behaviour(connection)

    def close(self) -> None:
        self.ended.set()
        with socket.create_connection(self._socket.getsockname()):
            pass
        self._socket.close()
        for thread in self.threads:
            thread.join()


@contextmanager
def listening(behaviour: Callable[[socket.socket], None]) -> Iterator[Listener]:
    made = Listener(behaviour)
    try:
        yield made
    finally:
        made.close()
