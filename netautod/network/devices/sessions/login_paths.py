"""The way to a device: itself and the jump devices before it, each with the login that it takes."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from netautod.activity.audit.service import AuditLog
from netautod.core.errors import InvalidInput
from netautod.core.work.context import Work
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.network.credentials.models import (
    CredentialUnusable,
    Destination,
    LoginSecrets,
    NotVouched,
    UsableCredential,
)
from netautod.network.credentials.service import CredentialService
from netautod.network.devices.creation.links import MOST_JUMPS, NO_JUMP, TELNET_REFUSED
from netautod.network.devices.models import SSH, TELNET, Device
from netautod.network.devices.service import DeviceService
from netautod.network.devices.sessions.target_addresses import DeviceReach
from netautod.network.devices.vouching.destinations import destinations
from netautod.secrets.vault.errors import VaultError
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.target import Hop, Login, Target

FRESH_SECONDS = 5.0  # how long a credential that was read is used; a change of it is seen after that
MOST_REMEMBERED = 100
RENEW_SECONDS = 1200.0  # a third of a certificate's hour; a login may wait for its turn after that


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A login of the way; `revision` is that of the credential.

    `may_be_pinned`: whether the key that answers may be pinned, if none is.
    """

    device: Device
    login: Login
    credential_id: str
    credential_name: str
    revision: int
    allowed_hosts: tuple[str, ...]
    may_be_pinned: bool


class Paths:
    """The ways of one request or run: it audits the use of each credential once, before it is used.

    `audited`: the ids of credentials whose use is in the audit already.
    """

    def __init__(
        self,
        *,
        devices: DeviceService,
        credentials: CredentialService,
        audit: AuditLog,
        authority: SshAuthority,
        allow_telnet: bool,
        work: Work,
        details: Mapping[str, Any],
        audited: set[str],
    ) -> None:
        self._devices = devices
        self._credentials = credentials
        self._audit = audit
        self._authority = authority
        self._allow_telnet = allow_telnet
        self._work = work
        self._details = details
        self._found: dict[tuple[str | None, str | None], tuple[UsableCredential, float]] = {}
        self._logins: dict[tuple[str, int, bool], tuple[Login, float]] = {}
        self._audited = audited
        self._withheld: set[str] = set()
        self._preparing = asyncio.Lock()

    async def to(
        self, device_id: str, override: str | None, entered: Callable[[Device], Device]
    ) -> list[Leg]:
        """Return the way: the jump device farthest from the device first, itself last.

        Raises NotFound and DeviceFailed.

        `entered` returns the device as it looks behind the requested endpoint.
        """
        way = [await self._devices.get(self._work.org_id, device_id, self._work)]
        while (jump := way[0].jump_device_id) is not None:
            if len(way) > MOST_JUMPS:
                raise DeviceFailed(f"more than {MOST_JUMPS} jump devices on the way", kind="refused")
            way.insert(0, await self._devices.get(self._work.org_id, jump, self._work))
        way[-1] = entered(way[-1])
        self._require_protocols(way)
        places = list(zip(way, destinations(way), strict=True))
        hops = [await self._hop(device, place) for device, place in places[:-1]]
        return [*hops, await self._leg(*places[-1], override)]

    def _require_protocols(self, way: list[Device]) -> None:
        """Check the protocols of the way, whatever was allowed when the devices were saved."""
        device = way[-1]
        if device.protocol == TELNET and not self._allow_telnet:
            raise DeviceFailed(f"{device.name}: {TELNET_REFUSED}", kind="refused", final=True)
        for jump in way[:-1]:
            if jump.protocol != SSH:
                text = f"jump device {jump.name}: {NO_JUMP}"
                raise DeviceFailed(text, kind="refused", final=True, hop=jump.name)

    async def _hop(self, device: Device, place: Destination) -> Leg:
        try:
            return await self._leg(device, place, None)
        except DeviceFailed as exc:
            text = f"jump device {device.name}: {exc.text}"
            raise DeviceFailed(text, kind=exc.kind, hop=device.name) from exc

    async def _leg(self, device: Device, place: Destination, override: str | None) -> Leg:
        async with self._preparing:  # the event is written before the credential is used
            try:
                found = await self._credential(override, device.default_credential_id)
                secrets = await self._secrets(found, device, place)
            except NotVouched as exc:
                raise DeviceFailed(exc.text, kind="not_vouched", credential_id=found.id) from exc
            except (CredentialUnusable, VaultError) as exc:
                raise DeviceFailed(exc.text, kind="credential") from exc
            await self._audit_use(found.id)
            login = await self._login(found, secrets)
        return Leg(
            device=device,
            login=login,
            credential_id=found.id,
            credential_name=found.name,
            revision=found.revision,
            allowed_hosts=found.allowed_hosts,
            may_be_pinned=place.may_be_pinned,
        )

    async def _secrets(self, found: UsableCredential, device: Device, place: Destination) -> LoginSecrets:
        try:
            return found.secrets_for(place)
        except NotVouched:
            await self._audit_withheld(found.id, device)
            raise

    async def _credential(self, override: str | None, own: str | None) -> UsableCredential:
        """Return the credential, read at most once in a few seconds: a run needs the same one often."""
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

    async def _audit_withheld(self, credential_id: str, device: Device) -> None:
        """Audit once for each credential: an event for each of ten thousand devices says no more than one."""
        if credential_id not in self._withheld:
            self._withheld.add(credential_id)
            details = {**self._details, "device_id": device.id, "device_name": device.name}
            record = self._audit.record
            await record(self._work.caller, "credential.withheld", "credential", credential_id, details)

    async def _login(self, found: UsableCredential, secrets: LoginSecrets) -> Login:
        """Return one login for all devices: decoding an encrypted private key is slow on purpose."""
        key = (found.id, found.revision, secrets.enable_withheld)
        login, renewal = self._logins.get(key, (None, 0.0))
        if login is None or time.monotonic() >= renewal:
            login, renewal = _login(found.username, secrets), math.inf
            if found.use_certificate:
                login = await self._certified(found, login)
                renewal = time.monotonic() + RENEW_SECONDS
            self._logins[key] = (login, renewal)
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
    """Return what the engine connects to: the device behind its jump devices."""
    jump: Hop | None = None
    for leg in legs[:-1]:
        jump = Hop(login=leg.login, jump=jump, name=leg.device.name, **_address(leg, jump, rules))
    device = legs[-1].device
    return Target(
        platform=platform,
        protocol="telnet" if device.protocol == TELNET else "ssh",
        connect_commands=device.connect_commands,
        jump=jump,
        **_address(legs[-1], jump, rules),
    )


def _address(leg: Leg, jump: Hop | None, rules: DeviceReach) -> dict[str, Any]:
    device = leg.device
    return {
        "host": device.host,
        "port": device.port,
        "host_key_fingerprint": device.host_key_fingerprint,
        "ssh_profile": device.ssh_profile,
        "reach": rules.to(vouched=device.vouched, allowed_hosts=leg.allowed_hosts, jumps=jump is not None),
    }


def _login(username: str, secrets: LoginSecrets) -> Login:
    return Login(
        username=username,
        password=secrets.password,
        private_key=secrets.private_key,
        passphrase=secrets.passphrase,
        enable_secret=secrets.enable_secret,
        enable_withheld=secrets.enable_withheld,
    )
