"""A connection to a directory and the operations on it. Blocking: it runs in a thread of its own."""

import contextlib
import logging
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.plugin_api import ProviderUnavailable
from netautod_ldap.library import LDAPExceptionError, connection_to, ldap3
from netautod_ldap.settings import LdapSettings, ServerAddress

logger = logging.getLogger(__name__)
WITHOUT_USERS = re.compile(
    r"ldaps?://[^/]*/(CN=Configuration|DC=DomainDnsZones|DC=ForestDnsZones),", re.IGNORECASE
)
SUCCESS, SIZE_LIMIT_EXCEEDED, NO_SUCH_OBJECT = 0, 4, 32
# RFC 4511 A.1: the results of searches that found more than they return; beside them 3 and 11, limits of time
# and of the administrator.
CUT = frozenset({3, SIZE_LIMIT_EXCEEDED, 11})
# RFC 4511 A.2: the results for a wrong, locked or unknown account, not for a wrong configuration.
WRONG_CREDENTIALS = frozenset({19, 32, 34, 48, 49, 50, 53})


@dataclass(frozen=True, kw_only=True)
class Entry:
    dn: str
    attributes: Mapping[str, Sequence[bytes]]

    def texts(self, name: str) -> list[str]:
        """Return the attribute's values that are text."""
        found = []
        for value in self.attributes.get(name, ()) if name else ():
            with contextlib.suppress(UnicodeDecodeError):
                found.append(value.decode())
        return found


class IncompleteAnswer(ProviderUnavailable):
    """Raised for a search that may have found only a part of what there is: `entries`."""

    def __init__(self, text: str, entries: Sequence[Entry] = ()) -> None:
        super().__init__(text)
        self.entries = entries


class Session:
    """A session, opened by `with session:`; `abort` may be called from another thread and ends any wait."""

    def __init__(self, settings: LdapSettings, context: ssl.SSLContext) -> None:
        self._settings = settings
        self._context = context
        self._aborted = threading.Event()
        self._connection: ldap3.Connection | None = None
        self.server: ServerAddress | None = None

    def __enter__(self) -> "Session":
        problems = []
        for address in self._settings.servers:
            try:
                self._open(address)
            except ProviderUnavailable as error:
                problems.append(f"{address}: {error}")
                self._close()
            else:
                self.server = address
                return self
        raise ProviderUnavailable("; ".join(problems))

    def __exit__(self, *_: object) -> None:
        self._close()

    def abort(self) -> None:
        self._aborted.set()
        found = getattr(self._connection, "socket", None)
        if found is not None:
            with contextlib.suppress(OSError):
                # The thread that reads gets an end of file; it also closes the socket.
                socket.socket.shutdown(found, socket.SHUT_RDWR)

    def bind_as_service(self) -> None:
        """Bind with bind_dn, else anonymously. Raises ProviderUnavailable if that is refused."""
        settings = self._settings
        code = self._bind(settings.bind_dn, settings.bind_password)
        if code != SUCCESS:
            who = settings.bind_dn or "an anonymous client"
            raise ProviderUnavailable(f"the server refused the bind of {who} (result {code})")

    def bind_as_user(self, dn: str, password: str) -> bool:
        """Bind as the user; return False for wrong credentials.

        `dn` and `password` must not be empty: that would be anonymous.
        """
        if not dn or not password:
            raise ProviderUnavailable("a bind without name or password was prevented")
        code = self._bind(dn, password)
        if code != SUCCESS and code not in WRONG_CREDENTIALS:
            raise ProviderUnavailable(f"the server refused a bind with result {code}")
        return code == SUCCESS

    def search(self, base: str, filter: str, attributes: Sequence[str], *, limit: int = 0) -> list[Entry]:
        return self._search(base, filter, "SUBTREE", attributes, limit)

    def search_whole(
        self, base: str, filter: str, attributes: Sequence[str], *, entry_alone: bool = False
    ) -> list[Entry]:
        """Search as `search` does, if a missing entry has consequences.

        Raises ProviderUnavailable unless the server says that the result is complete: IncompleteAnswer if the
        rest of it works. `entry_alone`: the entry `base` itself, which may be gone.
        """
        code, response = self._answer(base, filter, "BASE" if entry_alone else "SUBTREE", attributes, 0)
        if entry_alone and code == NO_SUCH_OBJECT:
            return []
        if code == NO_SUCH_OBJECT:
            raise IncompleteAnswer(f"the directory shows no entry {base!r}")
        entries = _entries(response)
        if code in CUT:
            raise IncompleteAnswer(f"the directory returns only a part of what is below {base!r}", entries)
        if code != SUCCESS:
            raise ProviderUnavailable(f"the search below {base!r} failed with result {code}")
        if any(_leads_elsewhere(item) for item in response):
            raise IncompleteAnswer(f"a part of what is below {base!r} is on another server", entries)
        return entries

    def read(self, dn: str, attributes: Sequence[str]) -> Entry | None:
        found = self._search(dn, "(objectClass=*)", "BASE", attributes, 1)
        return found[0] if found else None

    def _open(self, address: ServerAddress) -> None:
        if self._aborted.is_set():
            raise ProviderUnavailable("given up")
        self._connection = connection_to(address, self._settings, self._context)
        with _translated():
            self._connection.open(read_server_info=False)
            if not address.ldaps and self._settings.start_tls:
                self._connection.start_tls(read_server_info=False)

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        left = getattr(connection, "socket", None)
        # Not unbind(), which on a broken connection would wait and raise again.
        connection.strategy.close()
        if left is not None:  # ldap3 forgets a socket that did not get as far as being open
            left.close()

    def _usable(self) -> ldap3.Connection:
        connection = self._connection
        if connection is None or connection.closed or self._aborted.is_set():
            # ldap3 would open a new connection by itself, and in clear.
            raise ProviderUnavailable("the connection was lost")
        if self._settings.start_tls and not (connection.tls_started or connection.server.ssl):
            raise ProviderUnavailable("the connection is not encrypted")
        return connection

    def _bind(self, dn: str, password: str) -> int:
        connection = self._usable()
        connection.authentication = ldap3.SIMPLE if dn else ldap3.ANONYMOUS
        connection.user = dn or None
        # Bytes are sent as they are. Of a text ldap3 drops characters such as U+00AD, and what is left
        # may be empty: an anonymous bind, which succeeds (RFC 4513 5.1.2).
        connection.password = password.encode() if dn else None
        with _translated():
            _, result, _, _ = connection.bind(read_server_info=False)
        return int(result["result"])

    def _search(
        self, base: str, filter: str, scope: Any, attributes: Sequence[str], limit: int
    ) -> list[Entry]:
        code, response = self._answer(base, filter, scope, attributes, limit)
        if code not in (SUCCESS, SIZE_LIMIT_EXCEEDED, NO_SUCH_OBJECT):
            raise ProviderUnavailable(f"the search below {base!r} failed with result {code}")
        return _entries(response)

    def _answer(
        self, base: str, filter: str, scope: Any, attributes: Sequence[str], limit: int
    ) -> tuple[int, Sequence[Mapping[str, Any]]]:
        connection = self._usable()
        with _translated():
            _, result, response, _ = connection.search(
                base,
                filter,
                search_scope=scope,
                attributes=list(attributes),
                size_limit=limit,
                time_limit=self._settings.timeout_seconds,
            )
        return int(result["result"]), response or ()


def _entries(response: Sequence[Mapping[str, Any]]) -> list[Entry]:
    found = [item for item in response if item.get("type") == "searchResEntry"]
    return [Entry(dn=item["dn"], attributes=item["raw_attributes"]) for item in found]


def _leads_elsewhere(item: Mapping[str, Any]) -> bool:
    """Return whether it is a reference to another server.

    Active Directory gives some for every search from the root of a domain, to its configuration and DNS
    zones, which hold no users: those do not count.
    """
    if item.get("type") != "searchResRef":
        return False
    return not all(WITHOUT_USERS.match(str(uri)) for uri in item.get("uri") or ("",))


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except LDAPExceptionError as error:
        raise ProviderUnavailable(_line(error)) from error
    except Exception as error:  # ldap3 lets out whatever its decoders stumble over in a hostile answer
        raise ProviderUnavailable(f"the server's answer is not valid: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
