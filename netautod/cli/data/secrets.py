"""The commands `netautod secret ...`: the secrets that settings of plugins name as `vault:NAME`."""

import argparse
import asyncio
import getpass
import sys

from netautod.assembly.configuration import Configuration
from netautod.assembly.installation import Installation
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import system_caller
from netautod.core.json.values import to_text
from netautod.secrets.vault.named_secrets import NamedSecret


def add(commands: Commands) -> None:
    group = commands.group("secret", "manage the secrets that settings of plugins name as vault:NAME")
    parser = group.add("set", _set, "store a secret, read from the terminal or the standard input")
    parser.add_argument("name")
    group.add("list", _list, "list the names of the stored secrets")
    group.add("delete", _delete, "delete a secret").add_argument("name")


def _set(parsed: argparse.Namespace, configuration: Configuration) -> int:
    value = getpass.getpass("Secret: ") if sys.stdin.isatty() else _first_line(sys.stdin.read())
    asyncio.run(_store(configuration.settings, parsed.name, value))
    say(f"secret {parsed.name} stored; settings name it as vault:{parsed.name}, from the next start on")
    return 0


def _list(parsed: argparse.Namespace, configuration: Configuration) -> int:
    found = asyncio.run(_all(configuration.settings))
    for secret in found:
        users = sorted(key for key, name in configuration.in_vault.items() if name == secret.name)
        say(f"{secret.name:<32} {to_text(secret.updated_at)}  {', '.join(users) or '-'}")
    missing = set(configuration.in_vault.values()) - {secret.name for secret in found}
    for name in sorted(missing):
        say(f"{name:<32} missing")
    return 1 if missing else 0


def _delete(parsed: argparse.Namespace, configuration: Configuration) -> int:
    asyncio.run(_remove(configuration.settings, parsed.name))
    say(f"secret {parsed.name} deleted")
    return 0


def _first_line(text: str) -> str:
    line, _, rest = text.partition("\n")
    if rest.strip():
        raise InvalidInput("value: one line")
    return line.removesuffix("\r")


async def _all(settings: Settings) -> list[NamedSecret]:
    async with opened(settings) as installation:
        return await installation.secrets.all()


async def _store(settings: Settings, name: str, value: str) -> None:
    async with opened(settings, makes_one=True) as installation:
        await installation.secrets.put(name, value)
        await _note(installation, "secret.set", name)


async def _remove(settings: Settings, name: str) -> None:
    async with opened(settings) as installation:
        if not await installation.secrets.delete(name):
            raise NotFound(f"there is no secret {name!r}")
        await _note(installation, "secret.delete", name)


async def _note(installation: Installation, action: str, name: str) -> None:
    """Record it in the audit of the first organization, which is that of the installation's
    administrators.
    """
    caller = system_caller(await installation.people.organizations.default_id())
    await installation.audit.record(caller, action, "secret", name)
