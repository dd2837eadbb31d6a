"""The way to a device: itself and the jump devices before it, each with the login that it takes."""

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from netautod.audit.service import AuditLog
from netautod.auth.ssh_ca.service import SshAuthority
from netautod.core.errors import InvalidInput
from netautod.core.work import Work
from netautod.credentials.models import CredentialUnusable, UsableCredential
from netautod.credentials.service import CredentialService
from netautod.devices.links import MOST_JUMPS
from netautod.devices.models import Device
from netautod.devices.service import DeviceService
from netautod.devices.sessions.reach import DeviceReach
from netautod.ssh.failures import DeviceFailed
from netautod.ssh.platform.model import Platform
from netautod.ssh.target import Hop, Login, Target
from netautod.vault.errors import VaultError

FRESH_SECONDS = 5.0  # how long a credential that was read is used; a change of it is seen after that
MOST_REMEMBERED = 100
RENEW_SECONDS = 1200.0  # a third of a certificate's hour; a login may wait for its turn after that


@dataclass(frozen=True, kw_only=True)
class Leg:
    """One login of the way; `revision` is that of the credential."""

    device: Device
    login: Login
    credential_id: str
    credential_name: str
    revision: int
    allowed_hosts: tuple[str, ...]


class Paths:
    """The ways of one request or run: it audits the use of each credential once, before it is used."""

    def __init__(
        self,
        *,
        devices: DeviceService,
        credentials: CredentialService,
        audit: AuditLog,
        authority: SshAuthority,
        work: Work,
        details: Mapping[str, Any],
    ) -> None:
        self._devices = devices
        self._credentials = credentials
        self._audit = audit
        self._authority = authority
        self._work = work
        self._details = details
        self._found: dict[tuple[str | None, str | None], tuple[UsableCredential, float]] = {}
        self._logins: dict[tuple[str, int], tuple[Login, float]] = {}
        self._audited: set[str] = set()
        self._preparing = asyncio.Lock()

    async def to(self, device_id: str, override: str | None) -> list[Leg]:
        """The jump device farthest from the device first, itself last; NotFound, DeviceFailed."""
        device = await self._devices.get(self._work.org_id, device_id, self._work)
        legs = [await self._leg(device, override)]
        while (jump := legs[0].device.jump_device_id) is not None:
            if len(legs) > MOST_JUMPS:
                raise DeviceFailed(f"more than {MOST_JUMPS} jump devices on the way", kind="refused")
            hop = await self._devices.get(self._work.org_id, jump, self._work)
            legs.insert(0, await self._leg(hop, None))
        return legs

    async def _leg(self, device: Device, override: str | None) -> Leg:
        async with self._preparing:  # the event is written before anybody uses the credential
            try:
                found = await self._credential(override, device.default_credential_id)
                found.require_host(device.host)
            except (CredentialUnusable, VaultError) as exc:
                raise DeviceFailed(exc.text, kind="credential") from exc
            await self._audit_use(found.id)
            login = await self._login(found)
        return Leg(
            device=device,
            login=login,
            credential_id=found.id,
            credential_name=found.name,
            revision=found.revision,
            allowed_hosts=found.allowed_hosts,
        )

    async def _credential(self, override: str | None, own: str | None) -> UsableCredential:
        """Read at most once in a few seconds: a run over a fleet asks for the same one again and again."""
        found, until = self._found.get((override, own), (None, 0.0))
        if found is None or time.monotonic() >= until:
            found = await self._credentials.usable(self._work.org_id, override=override, device_default=own)
            if len(self._found) >= MOST_REMEMBERED:
                self._found.clear()
            self._found[override, own] = (found, time.monotonic() + FRESH_SECONDS)
        return found

    async def _audit_use(self, credential_id: str) -> None:
        if credential_id not in self._audited:
            record = self._audit.record
            await record(self._work.caller, "credential.use", "credential", credential_id, self._details)
            self._audited.add(credential_id)

    async def _login(self, found: UsableCredential) -> Login:
        """One for all devices: decoding an encrypted private key is slow on purpose."""
        login, renewal = self._logins.get((found.id, found.revision), (None, 0.0))
        if login is None or time.monotonic() >= renewal:
            login, renewal = _login(found), math.inf
            if found.use_certificate:
                login = await self._certified(found, login)
                renewal = time.monotonic() + RENEW_SECONDS
            self._logins[found.id, found.revision] = (login, renewal)
        return login

    async def _certified(self, found: UsableCredential, login: Login) -> Login:
        key = await asyncio.to_thread(lambda: login.key)
        assert key is not None  # only credentials with a key may ask for certificates
        try:
            certificate = await self._authority.sign_for_device(
                self._work.caller,
                username=found.username,
                credential_id=found.id,
                public_key=key.export_public_key().decode(),
            )
        except InvalidInput as exc:
            raise DeviceFailed(exc.text, kind="credential") from exc
        return replace(login, certificate=certificate)


def target_of(legs: list[Leg], platform: Platform, rules: DeviceReach) -> Target:
    """What the engine connects to: the device behind its jump devices."""
    jump: Hop | None = None
    for leg in legs[:-1]:
        jump = Hop(login=leg.login, jump=jump, name=leg.device.name, **_address(leg, jump, rules))
    commands = legs[-1].device.connect_commands
    return Target(platform=platform, connect_commands=commands, jump=jump, **_address(legs[-1], jump, rules))


def _address(leg: Leg, jump: Hop | None, rules: DeviceReach) -> dict[str, Any]:
    device = leg.device
    return {
        "host": device.host,
        "port": device.port,
        "host_key_fingerprint": device.host_key_fingerprint,
        "ssh_profile": device.ssh_profile,
        "reach": rules.to(vouched=device.vouched, allowed_hosts=leg.allowed_hosts, jumps=jump is not None),
    }


def _login(found: UsableCredential) -> Login:
    secret = {"private_key" if found.type == "ssh_key" else "password": found.secret}
    more = {"passphrase": found.passphrase, "enable_secret": found.enable_secret}
    return Login(username=found.username, **secret, **more)
