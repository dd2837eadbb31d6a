"""An HTTP server of a test, on a random port of loopback."""

import ssl

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application


def serve(
    application: Application, *, tls: ssl.SSLContext | None = None, port: int = 0
) -> tuple[HTTPServer, str]:
    """The running server, and its URL without a path; port 0 is any that is free."""
    server = HTTPServer(application, ssl_options=tls)
    sockets = bind_sockets(port, "127.0.0.1")
    server.add_sockets(sockets)
    scheme = "http" if tls is None else "https"
    return server, f"{scheme}://127.0.0.1:{sockets[0].getsockname()[1]}"
