"""The provider `ldap`: directory look-ups in threads, bounded in number and in time."""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from netautod.plugin_api import (
    Identity,
    KnownUser,
    Lookup,
    LookupOf,
    ProbeResult,
    ProviderUnavailable,
)
from netautod_ldap import account_check, lookup
from netautod_ldap.library import tls_context
from netautod_ldap.session import Session
from netautod_ldap.settings import LdapSettings

T = TypeVar("T")
MAX_LENGTH = 256
QUEUE = 64


class LdapProvider:
    """The provider. Threads and connections begin with the first login; every login has its own
    connection."""

    name = "ldap"

    def __init__(self, settings: LdapSettings) -> None:
        self._settings = settings
        self.provisioning = settings.provisioning
        self._pool = ThreadPoolExecutor(settings.threads, thread_name_prefix="ldap")
        self._places = threading.BoundedSemaphore(settings.threads + QUEUE)
        self._context: ssl.SSLContext | None = None

    async def authenticate(self, username: str, password: str) -> Identity | None:
        """Return the user's identity; a name or a password that no user can have is refused without a
        request.
        """
        name = username.strip()
        if not _sendable(name) or not _sendable(password):
            return None
        return await self._in_thread(lambda session: lookup.login(session, self._settings, name, password))

    @property
    def looks_up(self) -> LookupOf | None:
        """Return what is looked up: accounts, but only if the service has an entry of its own.

        Without one, users cannot be looked up without their passwords.
        """
        return LookupOf.ACCOUNT if self._settings.bind_dn else None

    async def look_up(self, user: KnownUser) -> Lookup:
        return await self._in_thread(lambda session: account_check.look_up(session, self._settings, user))

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        name = username.strip() if username is not None else None
        for what, text in (("name", name), ("password", password)):
            mistake = None if text is None else _mistake(text)
            if mistake is not None:
                return ProbeResult(success=False, message=f"The {what} {mistake}: it is never sent")
        return await self._in_thread(lambda session: lookup.probe(session, self._settings, name, password))

    async def close(self) -> None:
        """Wait for running logins; each ends by its deadline."""
        await asyncio.to_thread(self._pool.shutdown)

    async def _in_thread(self, work: Callable[[Session], T]) -> T:
        if not self._places.acquire(blocking=False):
            raise ProviderUnavailable("too many logins wait for the directory")
        sessions: list[Session] = []
        try:
            future = self._pool.submit(self._run, work, sessions)
        except RuntimeError as error:
            self._places.release()
            raise ProviderUnavailable("the service is stopping") from error
        # The place is free when the thread has ended, which may be after its caller was cancelled.
        future.add_done_callback(lambda _: self._places.release())
        try:
            async with asyncio.timeout(self._settings.deadline):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            raise ProviderUnavailable(f"no answer within {self._settings.deadline:g} seconds") from error
        finally:
            if not future.done():
                future.cancel()
                for session in sessions:
                    with contextlib.suppress(OSError):
                        session.abort()

    def _run(self, work: Callable[[Session], T], sessions: list[Session]) -> T:
        if self._context is None:  # built in a thread: reading the authorities takes 20 ms and more
            try:
                self._context = tls_context(self._settings)
            except OSError as error:
                raise ProviderUnavailable(f"ldap.ca_file cannot be read: {error}") from error
        session = Session(self._settings, self._context)
        sessions.append(session)
        return work(session)


def _sendable(text: str) -> bool:
    return _mistake(text) is None


def _mistake(text: str) -> str | None:
    """Return why the text may not be sent, None if it may.

    An empty password would be an anonymous bind, which succeeds with any name (RFC 4513 5.1.2).
    """
    if not text.strip():
        return "is blank"
    if len(text) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    if "\0" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate"
    return None
