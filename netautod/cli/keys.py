"""The command `netautod rotate-keys`: new keys for the secrets in the database, or for access tokens."""

import argparse
import asyncio
from datetime import timedelta

from netautod.app.configuration import Configuration
from netautod.app.installation import Installation
from netautod.app.settings import Settings
from netautod.app.stores import SEALED_FIELDS
from netautod.auth.tokens.signing_keys import SigningKeys
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.identity import Caller, system_caller
from netautod.core.json_values import to_text
from netautod.vault.rewrapping import rewrap
from netautod.vault.vault import INSTALLATION


def add(commands: Commands) -> None:
    parser = commands.add("rotate-keys", run, "make new organization keys and re-wrap all secrets")
    parser.add_argument("--jwt", action="store_true", help="instead: a new key that signs access tokens")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    settings = configuration.settings
    for line in asyncio.run(_rotate_signing_key(settings) if parsed.jwt else _rotate_keys(settings)):
        say(line)
    return 0


async def _rotate_keys(settings: Settings) -> list[str]:
    """A new key for every organization, then every sealed value re-wrapped under it; resumable."""
    lines = []
    async with opened(settings) as installation:
        for organization in await installation.people.organizations.all():
            version = await installation.vault.rotate_organization_key(organization.id)
            await _record(installation, system_caller(organization.id), "organization", version)
            lines.append(f"organization {organization.name}: key version {version}")
        version = await installation.vault.rotate_organization_key(INSTALLATION)
        caller = system_caller(await installation.people.organizations.default_id())
        await _record(installation, caller, "installation", version)
        lines.append(f"installation: key version {version}")
        result = await rewrap(installation.vault, installation.database, SEALED_FIELDS)
        lines.append(f"{result.rewrapped} secrets re-wrapped, {result.failed} failed")
    return lines


async def _record(installation: Installation, caller: Caller, of: str, version: int) -> None:
    await installation.audit.record(
        caller, "vault_key.rotate", "vault_key", None, {"of": of, "version": version}
    )


async def _rotate_signing_key(settings: Settings) -> list[str]:
    """A new key for access tokens; nobody is logged out."""
    async with opened(settings) as installation:
        keys = await SigningKeys.open(
            store=installation.stores.signing_keys, vault=installation.vault, clock=installation.clock
        )
        lifetime = timedelta(seconds=settings.auth.access_token_seconds)
        key = await keys.rotate(token_lifetime=lifetime)
        caller = system_caller(await installation.people.organizations.default_id())
        await installation.audit.record(caller, "signing_key.rotate", "signing_key", key.kid)
    return [
        f"access tokens are signed with the new key from {to_text(key.signs_from)} on",
        f"those of the old key are good until {to_text(key.alone_from)} at the latest; then it is deleted",
    ]
