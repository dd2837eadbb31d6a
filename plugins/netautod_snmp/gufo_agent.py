"""The requests to the SNMP agent of one device: single objects, and walks that are known to have reached
their end.

gufo-snmp does the packets and the cryptography (RFC 1901, 3414, 3826). What it leaves to its users is here:
requests are repeated, a walk that stops on an error or turns in a circle is no walk, and answers that are too
long are requested in smaller pieces.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from gufo.snmp import NoSuchInstance, SnmpAuthError, SnmpError, User
from gufo.snmp._fast import GetIter, SnmpV2cClientSocket, SnmpV3ClientSocket
from gufo.snmp.user import KeyExpansion

from netautod.plugin_api import DeviceFailed, SnmpAccess
from netautod_snmp.agent import (
    MOST_ROWS,
    NO_SUCH_NAME,
    OBJECTS_AT_ONCE,
    REPETITIONS,
    REQUEST_SECONDS,
    TOO_BIG,
    TRIES,
    Agent,
    Rows,
    TooLong,
    Value,
    WalkFailed,
    error_name,
)
from netautod_snmp.packets import error_status
from netautod_snmp.pysnmp_agent import PysnmpAgent
from netautod_snmp.users import users_of

BUFFER_BYTES = 1 << 20
FAR_BEHIND = "1.3.6.1.6.3"  # snmpModules
PACKET_BYTES = 65_535
UP_TIME = "1.3.6.1.2.1.1.3.0"  # sysUpTime
T = TypeVar("T")


class GufoAgent:
    """An agent; requests follow each other, as slow agents lose what comes at once.

    `seconds` is the time for one attempt at a request. `latency_ms` is how long its first answer took.
    """

    def __init__(self, access: SnmpAccess, *, seconds: float = REQUEST_SECONDS, tries: int = TRIES) -> None:
        self._access = access
        self._seconds = seconds
        self._tries = tries
        self._turn = asyncio.Lock()
        self._sock: SnmpV2cClientSocket | SnmpV3ClientSocket | None = None
        self._peeking: socket.socket | None = None
        self._packet = b""
        self._user: User | None = None
        self._opening = asyncio.Lock()
        self._contexts: PysnmpAgent | None = None
        self._stack = AsyncExitStack()
        self.latency_ms: float | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["GufoAgent"]:
        """Open the agent. Raises DeviceFailed for an agent that cannot be queried, or a user that it does not
        know.
        """
        self._connect()
        try:
            if self._access.user is not None:
                await self._learn_engine()
            yield self
        finally:
            if self._peeking is not None:
                self._peeking.close()
            self._sock = None
            await self._stack.aclose()

    @asynccontextmanager
    async def vlan(self, number: int) -> AsyncIterator[Agent]:
        """Return the agent of a VLAN by the community `NAME@vlan`; a user's context `vlan-N` is named with
        pysnmp.
        """
        if self._access.community is None:
            async with (await self._by_context()).vlan(number) as of_context:
                yield of_context
            return
        access = replace(self._access, community=f"{self._access.community}@{number}")
        async with GufoAgent(access, seconds=self._seconds, tries=self._tries).opened() as of_community:
            yield of_community

    async def _by_context(self) -> PysnmpAgent:
        async with self._opening:
            if self._contexts is None:
                agent = PysnmpAgent(
                    self._access,
                    seconds=self._seconds,
                    tries=self._tries,
                    expansion=KeyExpansion.Cisco if self._user is None else self._user.key_expansion,
                )
                self._contexts = await self._stack.enter_async_context(agent.opened())
            return self._contexts

    async def get(self, oids: Iterable[str]) -> Rows:
        """Return the objects that exist. WalkFailed, or DeviceFailed `timeout` without an answer."""
        found: Rows = {}
        wanted = list(oids)
        for start in range(0, len(wanted), OBJECTS_AT_ONCE):
            found |= await self._get(wanted[start : start + OBJECTS_AT_ONCE])
        return found

    async def _get(self, oids: list[str]) -> Rows:
        sock = self._socket()

        def send() -> None:
            sock.send_get_many(oids)

        try:
            found = await self._request(send, sock.recv_get_many)
        except NoSuchInstance:
            found = {}
        except (TooLong, StopAsyncIteration):
            found = None
        if found is not None and not self._failed(found):
            return dict(found)
        if len(oids) == 1:
            return {}
        # One object that the agent cannot answer makes the whole request fail.
        half = len(oids) // 2
        return await self._get(oids[:half]) | await self._get(oids[half:])

    async def walk(self, root: str) -> Rows:
        """Return all objects below the root, in the order of the agent. WalkFailed, or DeviceFailed
        `timeout`.
        """
        for repetitions in REPETITIONS:
            with suppress(TooLong):
                return await self._walk(root, repetitions)
        raise WalkFailed(f"the walk of {root} failed: an answer with one row is too long")

    async def _walk(self, root: str, repetitions: int) -> Rows:
        sock, rows = self._socket(), Rows()
        position, behind = GetIter(root, repetitions), len(root) + 1

        def send() -> None:
            sock.send_get_bulk(position)

        def receive() -> list[tuple[str, Value] | None] | None:
            try:
                return sock.recv_get_bulk(position)
            except StopAsyncIteration:
                return None

        while True:
            answer = await self._request(send, receive)
            if not answer:
                self._refuse_error(root)
                if error_status(self._packet) is None and await self._goes_on(root):
                    raise WalkFailed(f"the walk of {root} failed: the agent answers an error")
                return rows
            for row in answer:
                if row is None:
                    return rows
                index = row[0][behind:]
                if index in rows:
                    raise WalkFailed(f"the walk of {root} failed: the agent turns in a circle at {row[0]}")
                rows[index] = row[1]
            if len(rows) > MOST_ROWS:
                raise WalkFailed(f"the walk of {root} failed: more than {MOST_ROWS} rows")

    async def _goes_on(self, root: str) -> bool:
        """Return whether the agent has objects far behind the root.

        The answer that ended the walk was encrypted: it was the end of all objects, or an error. Every agent
        of version 3 has objects of SNMP-FRAMEWORK-MIB (RFC 3411), if the user may see them.
        """
        if tuple(map(int, root.split("."))) >= tuple(map(int, FAR_BEHIND.split("."))):
            return False
        sock, position = self._socket(), GetIter(FAR_BEHIND, 1)

        def receive() -> list[tuple[str, Value] | None]:
            try:
                return sock.recv_get_bulk(position)
            except StopAsyncIteration:
                return []

        found = await self._request(lambda: sock.send_get_bulk(position), receive)
        return any(row is not None for row in found)

    def _refuse_error(self, root: str) -> None:
        status = error_status(self._packet)
        if status == TOO_BIG:
            raise TooLong
        if status not in (None, 0, NO_SUCH_NAME):
            raise WalkFailed(f"the walk of {root} failed: the agent answers {error_name(status)}")

    def _failed(self, found: Mapping[str, Value]) -> bool:
        """Return whether the answer was an error: an encrypted answer does not say so, and one without an
        object may be one.
        """
        status = error_status(self._packet)
        return not found if status is None else status != 0

    async def _request(self, send: Callable[[], None], receive: Callable[[], T]) -> T:
        """Send one request, repeated while no answer comes."""
        began = time.monotonic()
        async with self._turn:
            for attempt in range(self._tries):
                try:
                    answer = await self._once(send, receive)
                except TimeoutError:
                    continue
                except SnmpAuthError as exc:
                    if attempt + 1 == self._tries:
                        raise DeviceFailed(f"the agent refuses the SNMP user ({exc})", kind="auth") from exc
                    await self._synchronise()  # its clock, or it has started anew
                    continue
                if self.latency_ms is None:
                    self.latency_ms = round((time.monotonic() - began) * 1000, 3)
                return answer
        seconds = self._seconds * self._tries
        text = f"no answer to SNMP within {seconds:g} s (a wrong community or user looks the same)"
        raise DeviceFailed(text, kind="timeout")

    async def _once(self, send: Callable[[], None], receive: Callable[[], T]) -> T:
        """Send a request once. Raises TimeoutError, also where the machine says that nothing listens
        there.
        """
        async with asyncio.timeout(self._seconds):
            try:
                send()
                while True:
                    await self._readable()
                    self._peek()
                    try:
                        return receive()
                    except BlockingIOError:
                        continue  # an answer to an earlier try
            except SnmpAuthError:
                raise
            except NoSuchInstance:
                raise
            except SnmpError as exc:
                raise TooLong from exc
            except OSError as exc:
                if isinstance(exc, TimeoutError):
                    raise
                raise DeviceFailed(
                    f"no way to the SNMP agent: {exc.strerror or exc}", kind="refused"
                ) from exc

    async def _readable(self) -> None:
        loop, descriptor = asyncio.get_running_loop(), self._socket().get_fd()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(descriptor, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)

    def _peek(self) -> None:
        """Keep a copy of the packet that is read next."""
        self._packet = b""
        if self._peeking is not None:
            with suppress(OSError):
                self._packet = self._peeking.recv(PACKET_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)

    def _socket(self) -> SnmpV2cClientSocket | SnmpV3ClientSocket:
        assert self._sock is not None  # `opened`
        return self._sock

    def _connect(self) -> None:
        access = self._access
        is_v6 = ":" in access.address
        place = f"[{access.address}]:{access.port}" if is_v6 else f"{access.address}:{access.port}"
        try:
            if access.user is None:
                self._sock = SnmpV2cClientSocket(place, access.community or "", 0, 0, BUFFER_BYTES, 0)
            else:
                self._sock = SnmpV3ClientSocket(place, b"", "", 0, b"", 0, b"", 0, 0, BUFFER_BYTES, 0)
            family = socket.AF_INET6 if is_v6 else socket.AF_INET
            self._peeking = socket.fromfd(self._sock.get_fd(), family, socket.SOCK_DGRAM)
        except (OSError, SnmpError, ValueError) as exc:
            raise DeviceFailed(f"no way to the SNMP agent at {place}: {exc}", kind="refused") from exc

    async def _learn_engine(self) -> None:
        """Learn the engine's id first, then with the keys its clock (RFC 3414 4)."""
        assert self._access.user is not None
        users, sock = users_of(self._access.user), self._socket()
        assert isinstance(sock, SnmpV3ClientSocket)
        await self._request(sock.send_refresh, sock.recv_refresh)
        if len(users) > 1:
            await self._find_user(sock, users)
            return
        self._user = users[0]
        _become(sock, self._user)
        if self._user.require_auth():
            await self._request(sock.send_refresh, sock.recv_refresh)

    async def _find_user(self, sock: SnmpV3ClientSocket, users: Sequence[User]) -> None:
        """Try each form of the user in turn: an agent that cannot decrypt says nothing, or what gufo-snmp
        cannot read.
        """
        for user in [*users] * self._tries:
            _become(sock, user)
            with suppress(TimeoutError, SnmpAuthError, TooLong):
                await self._once(sock.send_refresh, sock.recv_refresh)
                with suppress(NoSuchInstance):
                    await self._once(lambda: sock.send_get_many([UP_TIME]), sock.recv_get_many)
                self._user = user
                return
        text = "the agent does not answer the SNMP user (a wrong key looks the same)"
        raise DeviceFailed(text, kind="timeout")

    async def _synchronise(self) -> None:
        sock = self._socket()
        if isinstance(sock, SnmpV3ClientSocket):
            with suppress(TimeoutError, SnmpError, TooLong):
                await self._once(sock.send_refresh, sock.recv_refresh)


def _become(sock: SnmpV3ClientSocket, user: User) -> None:
    sock.set_keys(
        user.name, user.get_auth_alg(), user.get_auth_key(), user.get_priv_alg(), user.get_priv_key()
    )
