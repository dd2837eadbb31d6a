"""The command `netautod rotate-keys`: new keys for the secrets in the database, or for access tokens."""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

from netautod.assembly.configuration import Configuration
from netautod.assembly.data.leases import named_leases
from netautod.assembly.data.stores import SEALED_FIELDS
from netautod.assembly.installation import Installation
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import Conflict
from netautod.core.identity.caller import Caller, system_caller
from netautod.core.json.values import to_text
from netautod.core.text.plurals import counted
from netautod.core.work.deadlines import unhurried, waits
from netautod.identity.auth.tokens.signing_keys import SigningKeys
from netautod.secrets.vault.rotation import Rotation, rewrap_everything
from netautod.secrets.vault.vault import INSTALLATION

PATIENCE_SECONDS = 5.0


def add(commands: Commands) -> None:
    parser = commands.add("rotate-keys", run, "make new organization keys and re-wrap all secrets")
    parser.add_argument("--jwt", action="store_true", help="instead: a new key that signs access tokens")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    settings = configuration.settings
    if not parsed.jwt:
        return asyncio.run(_rotate_keys(settings))
    for line in asyncio.run(_rotate_signing_key(settings)):
        say(line)
    return 0


async def _rotate_keys(settings: Settings) -> int:
    async with opened(settings) as installation, _alone(settings, installation):
        return await _rotate(installation)


@waits(unhurried)
async def _rotate(installation: Installation) -> int:
    """Make a new key for every organization, then re-wrap every sealed value under it.

    The exit code is 1 if values are left that do not open.
    """
    rotation = await Rotation.begin(installation.database)
    if rotation.goes_on:
        say("going on with the rotation that did not end")
    await _make_keys(installation, rotation)
    result = await rewrap_everything(
        installation.vault,
        installation.database,
        SEALED_FIELDS,
        rotation,
        nodes=installation.stores.system.any_alive,
        report=say,
    )
    say(f"{counted(result.rewrapped, 'secret')} re-wrapped, {result.failed} failed")
    return 1 if result.failed else 0


@asynccontextmanager
async def _alone(settings: Settings, installation: Installation) -> AsyncIterator[None]:
    leasing = named_leases(
        database=installation.database,
        node_id=str(uuid4()),
        clock=installation.clock,
        settings=settings.executions,
    )
    # One that was killed holds it until it runs out.
    patience = settings.executions.lease_seconds + PATIENCE_SECONDS
    async with leasing as leases:
        try:
            async with leases.hold("rotate-keys", wait_seconds=patience):
                yield
        except TimeoutError as error:
            raise Conflict("Another rotate-keys is at work; this one has changed nothing") from error


async def _make_keys(installation: Installation, rotation: Rotation) -> None:
    found = await installation.people.organizations.all()
    organizations = {one.id: one.name for one in found if one.deleting_since is None}
    default = await installation.people.organizations.default_id()
    for org_id in (*organizations, INSTALLATION):
        version, is_new = await installation.vault.rotate_once(org_id, rotation.id)
        if org_id == INSTALLATION:
            caller, of, name = system_caller(default), "installation", "installation"
        else:
            caller, of, name = system_caller(org_id), "organization", f"organization {organizations[org_id]}"
        if is_new:
            await _record(installation, caller, of, version)
        say(f"{name}: key version {version}")


async def _record(installation: Installation, caller: Caller, of: str, version: int) -> None:
    await installation.audit.record(
        caller, "vault_key.rotate", "vault_key", None, {"of": of, "version": version}
    )


async def _rotate_signing_key(settings: Settings) -> list[str]:
    """Make a new key for access tokens; no session ends."""
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
