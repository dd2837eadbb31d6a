"""The listening socket, which is bound before the service is loaded, and outlives the process that serves."""

import socket

from tornado.netutil import bind_sockets

from netautod.assembly.settings import Settings
from netautod.core.errors import NetautodError


class StartError(NetautodError):
    """The service cannot start; one line for the operator."""


def bind(settings: Settings) -> socket.socket:
    """Bind the listening socket; raises StartError for an address that is taken or not ours."""
    wanted = settings.server
    try:
        found = bind_sockets(wanted.port, wanted.host)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StartError(f"cannot listen on {wanted.host}:{wanted.port}: {reason}") from error
    for spare in found[1:]:  # a name such as localhost has several addresses; one is enough
        spare.close()
    return found[0]
