"""The requests to an agent as a user of SNMPv3 that gufo-snmp cannot make: named contexts, and 3DES.

pysnmp is slower and larger, so it is loaded with the first such device. Its engine (RFC 3411) reads many
files when it is made: both happen in a thread.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from types import ModuleType
from typing import Any

from gufo.snmp.user import KeyExpansion

from netautod.plugin_api import DeviceFailed, SnmpAccess, SnmpUser
from netautod_snmp.agent import (
    MOST_ROWS,
    NO_SUCH_NAME,
    OBJECTS_AT_ONCE,
    REPETITIONS,
    REQUEST_SECONDS,
    TOO_BIG,
    TRIES,
    Rows,
    TooLong,
    Value,
    WalkFailed,
    error_name,
)
from netautod_snmp.users import named

AUTH: Mapping[str, str] = {
    "md5": "usmHMACMD5AuthProtocol",
    "sha": "usmHMACSHAAuthProtocol",
    "sha224": "usmHMAC128SHA224AuthProtocol",
    "sha256": "usmHMAC192SHA256AuthProtocol",
    "sha384": "usmHMAC256SHA384AuthProtocol",
    "sha512": "usmHMAC384SHA512AuthProtocol",
}
PRIV: Mapping[str, str] = {
    "des": "usmDESPrivProtocol",
    "3des": "usm3DESEDEPrivProtocol",
    "aes": "usmAesCfb128Protocol",
    "aes192": "usmAesCfb192Protocol",
    "aes256": "usmAesCfb256Protocol",
}
BLUMENTHAL: Mapping[str, str] = {
    "aes192": "usmAesBlumenthalCfb192Protocol",
    "aes256": "usmAesBlumenthalCfb256Protocol",
}
USER_REFUSED = (
    "AuthenticationError",
    "AuthenticationFailure",
    "UnknownUserName",
    "UnknownSecurityName",
    "UnsupportedSecurityLevel",
    "WrongDigest",
    "DecryptionError",
    "NotInTimeWindow",
)
ENDS = ("EndOfMibView", "NoSuchObject", "NoSuchInstance")


class PysnmpAgent:
    """An agent, queried as a user in one context; `seconds` is the time for one attempt at a request."""

    def __init__(
        self,
        access: SnmpAccess,
        *,
        seconds: float = REQUEST_SECONDS,
        tries: int = TRIES,
        expansion: KeyExpansion = KeyExpansion.Cisco,
    ) -> None:
        self._access = access
        self._expansion = expansion
        self._seconds = seconds
        self._tries = tries
        self._context = ""
        self._library: ModuleType | None = None
        self._engine: Any = None
        self.latency_ms: float | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["PysnmpAgent"]:
        """Open the agent. Raises DeviceFailed `credential` for a user with which no request can be made."""
        self._library, self._engine = await asyncio.to_thread(_engine)
        try:
            yield self
        finally:
            self._engine.close_dispatcher()

    @asynccontextmanager
    async def vlan(self, number: int) -> AsyncIterator["PysnmpAgent"]:
        """Return the agent of the context `vlan-N` (Cisco's document 44800), with the same engine."""
        own = PysnmpAgent(self._access, seconds=self._seconds, tries=self._tries, expansion=self._expansion)
        own._library, own._engine, own._context = self._library, self._engine, f"vlan-{number}"
        yield own

    async def get(self, oids: Iterable[str]) -> Rows:
        found: Rows = {}
        wanted = list(oids)
        for start in range(0, len(wanted), OBJECTS_AT_ONCE):
            found |= await self._get(wanted[start : start + OBJECTS_AT_ONCE])
        return found

    async def _get(self, oids: list[str]) -> Rows:
        status, rows = await self._request("get_cmd", oids)
        if not status:
            return {oid: _value(value) for oid, value in rows if not _is_end(value)}
        if len(oids) == 1:
            return {}
        # One object that the agent cannot answer makes the whole request fail.
        half = len(oids) // 2
        return await self._get(oids[:half]) | await self._get(oids[half:])

    async def walk(self, root: str) -> Rows:
        for repetitions in REPETITIONS:
            with suppress(TooLong):
                return await self._walk(root, repetitions)
        raise WalkFailed(f"the walk of {root} failed: an answer with one row is too long")

    async def _walk(self, root: str, repetitions: int) -> Rows:
        rows, last, under = Rows(), root, f"{root}."
        while True:
            status, answer = await self._request("bulk_cmd", [last], 0, repetitions)
            if status == TOO_BIG:
                raise TooLong
            if status == NO_SUCH_NAME or (not status and not answer):
                return rows
            if status:
                raise WalkFailed(f"the walk of {root} failed: the agent answers {error_name(status)}")
            for oid, value in answer:
                if not oid.startswith(under) or _is_end(value):
                    return rows
                index = oid.removeprefix(under)
                if index in rows:
                    raise WalkFailed(f"the walk of {root} failed: the agent turns in a circle at {oid}")
                rows[index], last = _value(value), oid
            if len(rows) > MOST_ROWS:
                raise WalkFailed(f"the walk of {root} failed: more than {MOST_ROWS} rows")

    async def _request(
        self, command: str, oids: list[str], *numbers: int
    ) -> tuple[int, list[tuple[str, Any]]]:
        """Return the error status and the objects. Raises DeviceFailed `timeout` or `auth`, and
        WalkFailed.
        """
        hlapi, began = self._library, time.monotonic()
        assert hlapi is not None  # `opened`
        assert self._access.user is not None
        objects = [hlapi.ObjectType(hlapi.ObjectIdentity(oid)) for oid in oids]
        failed, status, _, found = await getattr(hlapi, command)(
            self._engine,
            user_of(hlapi, self._access.user, self._expansion),
            await self._target(hlapi),
            hlapi.ContextData(contextName=self._context.encode()),
            *numbers,
            *objects,
            lookupMib=False,
        )
        if failed is not None:
            raise self._failure(failed)
        if self.latency_ms is None:
            self.latency_ms = round((time.monotonic() - began) * 1000, 3)
        return int(status), [(str(oid), value) for oid, value in found]

    async def _target(self, hlapi: ModuleType) -> Any:
        access = self._access
        kind = hlapi.Udp6TransportTarget if ":" in access.address else hlapi.UdpTransportTarget
        place = (access.address, access.port)
        return await kind.create(place, timeout=self._seconds, retries=self._tries - 1)

    def _failure(self, failed: Exception) -> DeviceFailed | WalkFailed:
        name = type(failed).__name__
        where = f" in the context {self._context}: is it open to the user's group?" if self._context else ""
        if name == "RequestTimedOut":
            text = f"no answer to SNMP within {self._seconds * self._tries:g} s"
            return DeviceFailed(text + (where or " (a wrong user looks the same)"), kind="timeout")
        if name in USER_REFUSED:
            return DeviceFailed(f"the agent refuses the SNMP user ({failed})", kind="auth")
        return WalkFailed(f"the agent cannot be queried ({failed}){where}")


def user_of(hlapi: ModuleType, user: SnmpUser, expansion: KeyExpansion) -> Any:
    """Build the user of the library. Raises DeviceFailed `credential` for a user that no agent can know."""
    ciphers = {**PRIV, **BLUMENTHAL} if expansion == KeyExpansion.Blumenthal else PRIV
    keys: dict[str, Any] = {}
    if user.auth_protocol is not None:
        keys |= {"authKey": user.auth_key, "authProtocol": getattr(hlapi, named(AUTH, user.auth_protocol))}
    if user.priv_protocol is not None:
        keys |= {"privKey": user.priv_key, "privProtocol": getattr(hlapi, named(ciphers, user.priv_protocol))}
    try:
        return hlapi.UsmUserData(user.name, **keys)
    except Exception as exc:  # its own, without a common ground
        raise DeviceFailed(f"the SNMP user cannot be used: {exc}", kind="credential") from exc


def _engine() -> tuple[ModuleType, Any]:
    from pysnmp.hlapi.v3arch import asyncio as hlapi

    return hlapi, hlapi.SnmpEngine()


def _is_end(value: Any) -> bool:
    return type(value).__name__ in ENDS


def _value(value: Any) -> Value:
    kind = type(value).__name__
    if kind in {"ObjectIdentifier", "ObjectName"}:
        return str(value)
    if kind == "IpAddress":
        return ".".join(map(str, value.asOctets()))
    return bytes(value) if hasattr(value, "asOctets") else int(value)
