"""A plugin as others write it: logins of the people in a file, with a count of them in its storage."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netautod.plugin_api import (
    AuthProvider,
    Identity,
    PluginHost,
    ProbeResult,
    ProviderUnavailable,
    ProvisioningRules,
    SettingsError,
    hookimpl,
    setting,
)


@dataclass(frozen=True, kw_only=True)
class StaffSettings:
    people: str = setting("", "JSON file with the digests of passwords by name; empty: no logins.")
    pepper: str = setting("", "What is hashed with a password.", secret=True)

    def check(self) -> None:
        if self.people and len(self.pepper) < 12:
            raise SettingsError("acme_staff.pepper must have 12 characters at least")


class Staff:
    name = "acme-staff"
    provisioning = ProvisioningRules(auto_provision=True, default_roles=("viewer",))

    def __init__(self, host: PluginHost[StaffSettings]) -> None:
        self._host = host

    async def authenticate(self, username: str, password: str) -> Identity | None:
        try:
            text = await asyncio.to_thread(Path(self._host.settings.people).read_text)
        except OSError as error:
            raise ProviderUnavailable(str(error)) from error
        digest = hashlib.sha256(f"{self._host.settings.pepper}{password}".encode()).hexdigest()
        if json.loads(text).get(username) != digest:
            return None
        # What a careless author would do.
        self._host.logger.warning("%s logged in with the pepper %s", username, self._host.settings.pepper)
        return Identity(username=username, external_ids=(f"staff:{username}",))

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        return ProbeResult(success=True, message=f"at {self._host.clock.now().isoformat()}")

    async def close(self) -> None:
        return


@hookimpl
def netautod_register_settings(register: Callable[[type[StaffSettings]], None]) -> None:
    register(StaffSettings)


@hookimpl
def netautod_register_auth_providers(
    register: Callable[[AuthProvider], None], host: PluginHost[StaffSettings]
) -> None:
    if host.settings.people:
        register(Staff(host))
