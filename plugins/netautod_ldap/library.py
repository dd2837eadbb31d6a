"""The only import of ldap3: a connection that verifies certificates by OpenSSL and never falls back to clear.

ldap3 2.9 imports names that pyasn1 0.6 calls deprecated; they are gone in 0.7.
"""

import ssl
import warnings
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import ldap3
    from ldap3.core.exceptions import LDAPExceptionError

from netautod_ldap.settings import LdapSettings, ServerAddress

__all__ = ["LDAPExceptionError", "connection_to", "ldap3", "tls_context"]


class VerifiedTls(ldap3.Tls):
    """The TLS settings of ldap3 without its own check of the host name: OpenSSL does it within the
    handshake."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(validate=context.verify_mode)
        self._context = context

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        # The socket has its timeout already, so that a server silent in the handshake is given up too.
        connection.socket = self._context.wrap_socket(
            connection.socket, server_hostname=connection.server.host, do_handshake_on_connect=True
        )


def tls_context(settings: LdapSettings) -> ssl.SSLContext:
    """Build the TLS context. Raises OSError (ssl.SSLError is one) if the file of authorities cannot be
    read."""
    context = ssl.create_default_context(cafile=settings.ca_file or None)
    if not settings.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def connection_to(
    address: ServerAddress, settings: LdapSettings, context: ssl.SSLContext
) -> ldap3.Connection:
    """Build a connection that is not open yet. SAFE_SYNC: each operation returns (status, result, response,
    request).
    """
    server = ldap3.Server(
        address.host,
        port=address.port,
        use_ssl=address.ldaps,
        tls=VerifiedTls(context),
        get_info=ldap3.NONE,
        connect_timeout=settings.timeout_seconds,
    )
    return ldap3.Connection(
        server,
        client_strategy=ldap3.SAFE_SYNC,
        auto_bind=ldap3.AUTO_BIND_NONE,
        auto_referrals=False,
        auto_escape=False,  # templates.py has done it
        check_names=False,  # no schema is read
        read_only=True,
        receive_timeout=settings.timeout_seconds,
    )
