"""The commands `netautod platform ...`: which platforms there are, and how one gets on with a device."""

import argparse
import asyncio
import getpass
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from netautod.assembly.configuration import Configuration
from netautod.assembly.network.devices import build_devices
from netautod.assembly.network.sessions import build_platforms
from netautod.assembly.plugins import load_plugins
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import system_caller
from netautod.network.credentials.models import Destination
from netautod.network.devices.creation.links import TELNET_REFUSED
from netautod.testing.trial import Trial
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.profiles import PROFILES
from netautod.transport.ssh.target import Login, SessionLimits, Target

PORTS = {"ssh": 22, "telnet": 23}
HINTS: Mapping[FailureKind, str] = MappingProxyType(
    {
        "dns": "check the name, or give the address",
        "refused": "check the port (--port) and that the device lets this machine in",
        "timeout": "check that a firewall lets this machine in, and that the device is not busy",
        "kex": "try --ssh-profile compatible, then legacy",
        "host_key": "the device shows a key that cannot be used",
        "auth": "check name and password by hand; do not repeat this, accounts lock after a few tries",
        "enable": "give the enable secret with --enable-password-file, or a --credential that has one",
        "prompt": "the platform does not know this prompt, or a question before it",
        "pager": "the pager's text is not in the platform's `pager`, or `paging_off` was refused",
        "incomplete": "see the platform's [capture]: does its end marker fit this release?",
        "refused_command": "this release may spell the command otherwise: `alternatives` in [capture]",
        "lost": "look at the log of the device: who ended the session?",
        "flood": "devices.max_config_bytes sets the limit",
    }
)


def add(commands: Commands) -> None:
    group = commands.group("platform", "the command lines that are known, and trying one on a device")
    parser = group.add("list", _list, "list the platforms")
    parser.add_argument("--json", action="store_true", help="print them as JSON, with their aliases")
    parser = group.add("try", _try, "log in to a device and show step by step what was seen")
    parser.add_argument("device", metavar="HOST", help="name or address of the device")
    parser.add_argument(
        "--platform", required=True, metavar="NAME", help="a name of `netautod platform list`"
    )
    parser.add_argument(
        "--port", dest="device_port", type=int, metavar="N", help="default: that of the protocol"
    )
    parser.add_argument("--protocol", choices=sorted(PORTS), default="ssh")
    parser.add_argument("--ssh-profile", choices=sorted(PROFILES), default="modern")
    parser.add_argument("--username", metavar="NAME", help="default: your name on this machine")
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument("--password-file", metavar="FILE", help="its first line; default: prompt for it")
    secret.add_argument("--credential", metavar="NAME", help="one of the installation's credentials")
    parser.add_argument("--enable-password-file", metavar="FILE")
    parser.add_argument(
        "--organization", metavar="NAME", help="organization of the credential, if there are several"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write a recording without secrets that can become a test: into this folder, or this .toml",
    )


def _list(parsed: argparse.Namespace, configuration: Configuration) -> int:
    registry = _registry(configuration)
    platforms = [registry.get(name) for name in registry.names()]
    if parsed.json:
        sys.stdout.write(json.dumps([_as_json(platform) for platform in platforms], indent=2) + "\n")
        return 0
    for platform in platforms:
        say(f"{platform.name:<22} {_abilities(platform)}")
        say(
            f"{'':<22} {len(platform.sources)} sources; also {', '.join(platform.aliases) or 'no other name'}"
        )
    return 0


def _as_json(platform: Platform) -> dict[str, Any]:
    return {
        "name": platform.name,
        "aliases": list(platform.aliases),
        "sources": list(platform.sources),
        "channel": platform.channel,
        "modes": list(platform.prompts),
        "enable": platform.enable is not None,
        "capture": [item.command or item.file for item in platform.capture],
        "parts": [part.name for part in platform.parts],
        "end_marker": platform.end_marker is not None,
        "must_contain": [pattern.pattern for pattern in platform.must_contain],
        "own": [pattern.pattern for pattern in platform.own],
        "smallest": platform.smallest,
        "secrets": len(platform.secrets),
    }


def _abilities(platform: Platform) -> str:
    reads = ", ".join(filter(None, (item.command or item.file for item in platform.capture[:3])))
    more = ", ..." if len(platform.capture) > 3 else ""
    parts = [part.name for part in platform.parts]
    return "; ".join(
        [
            f"reads {reads}{more}",
            *(["knows enable"] if platform.enable is not None else []),
            *(["knows the end"] if platform.end_marker is not None else []),
            *([f"parts {', '.join(parts)}"] if parts else []),
        ]
    )


def _try(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if the device could not be read."""
    registry, settings = _registry(configuration), configuration.settings
    if not registry.knows(parsed.platform):
        raise InvalidInput(f"there is no platform {parsed.platform!r}; see `netautod platform list`")
    if parsed.protocol == "telnet" and not settings.devices.allow_telnet:
        raise InvalidInput(TELNET_REFUSED)
    port = PORTS[parsed.protocol] if parsed.device_port is None else parsed.device_port
    if not 1 <= port <= 65535:
        raise InvalidInput("--port must be 1 to 65535")
    target = Target(
        host=parsed.device,
        port=port,
        protocol=parsed.protocol,
        platform=registry.get(parsed.platform),
        ssh_profile=parsed.ssh_profile,
    )
    return asyncio.run(_tried(parsed, settings, registry, target))


async def _tried(
    parsed: argparse.Namespace, settings: Settings, registry: PlatformRegistry, target: Target
) -> int:
    trial = Trial(target=target, login=await _login(parsed, settings), readers=registry.for_readers, say=say)
    limits = SessionLimits(
        login_seconds=settings.devices.connect_seconds,
        command_seconds=settings.devices.command_seconds,
        output_bytes=settings.devices.max_config_bytes,
    )
    try:
        await trial.run(limits, record=None if parsed.record is None else Path(parsed.record))
    except DeviceFailed as exc:
        complain(f"{exc.kind}: {exc.text}")
        if exc.kind in HINTS:
            complain(f"hint: {HINTS[exc.kind]}")
        return 1
    except OSError as exc:
        raise InvalidInput(f"{parsed.record}: {exc.strerror}") from exc
    return 0


async def _login(parsed: argparse.Namespace, settings: Settings) -> Login:
    enable = None if parsed.enable_password_file is None else _first_line(parsed.enable_password_file)
    if parsed.credential is not None:
        return await _of_credential(parsed, settings, enable)
    name = parsed.username or getpass.getuser()
    if parsed.password_file is not None:
        password = _first_line(parsed.password_file)
    elif sys.stdin.isatty():
        password = getpass.getpass(f"Password of {name} on {parsed.device}: ")
    else:
        raise InvalidInput("no terminal to prompt for the password: give --password-file or --credential")
    return Login(username=name, password=password, enable_secret=enable)


async def _of_credential(parsed: argparse.Namespace, settings: Settings, enable: str | None) -> Login:
    """Return the login of a credential: a user who may read the data directory may use it, within its own
    bounds.
    """
    async with opened(settings) as installation:
        caller = system_caller(
            (await organization_named(installation.people.organizations, parsed.organization)).id
        )
        credentials = build_devices(installation).credentials
        credential_id = await credentials.id_of(caller.org_id, parsed.credential)
        if credential_id is None:
            raise NotFound(f"there is no credential {parsed.credential!r}")
        found = await credentials.usable(caller.org_id, override=credential_id, device_default=None)
        secrets = found.secrets_for(Destination(host=parsed.device, vouched=True, way_vouched=True))
        details = {"host": parsed.device, "command": "platform try"}
        await installation.audit.record(caller, "credential.use", "credential", found.id, details)
    return Login(
        username=parsed.username or found.username,
        password=secrets.password,
        private_key=secrets.private_key,
        passphrase=secrets.passphrase,
        enable_secret=enable or secrets.enable_secret,
    )


def _first_line(name: str) -> str:
    try:
        with Path(name).open(encoding="utf-8") as file:
            line = file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"{name}: cannot be read") from exc
    if not line:
        raise InvalidInput(f"{name}: the first line is empty")
    return line


def _registry(configuration: Configuration) -> PlatformRegistry:
    return build_platforms(load_plugins(configuration), configuration.settings.devices)
