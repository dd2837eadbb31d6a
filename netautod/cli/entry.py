"""The command `netautod`: serve, and what an administrator does beside the API."""

import argparse
import asyncio
import getpass
import json
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from netautod import __version__
from netautod.app import build as app
from netautod.app import server, supervisor
from netautod.app.settings import Settings, SettingsError
from netautod.cli import commands
from netautod.cli import imports as import_command
from netautod.cli import sync as sync_command
from netautod.core import logs
from netautod.core.errors import InvalidInput, NetautodError
from netautod.core.settings.reader import load

T = TypeVar("T")
DEFAULT_FILES = (Path("/etc/netautod/netautod.toml"),)
FLAGS = {"data_dir": "data_dir", "mongodb_uri": "mongodb.uri", "host": "server.host", "port": "server.port"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 done, 1 failed, 2 wrong call or wrong settings."""
    parsed = _parser().parse_args(arguments)
    try:
        settings = _settings(parsed)
    except SettingsError as error:
        return _say(error.text, 2)
    logs.configure(level=_log_level(parsed, settings), format=settings.log.format)
    try:
        result: int = parsed.run(parsed, settings)
    except InvalidInput as error:
        return _say(error.text, 2)
    except NetautodError as error:
        return _say(error.text, 1)
    except KeyboardInterrupt:
        return 130
    return result


def _log_level(parsed: argparse.Namespace, settings: Settings) -> str:
    """What the service tells at `info` is noise around the answer of a command."""
    short = parsed.run is not _serve and settings.log.level == "info"
    return "warning" if short else settings.log.level


def _say(text: str, code: int) -> int:
    print(f"netautod: {text}", file=sys.stderr)
    return code


def _settings(parsed: argparse.Namespace) -> Settings:
    file = Path(parsed.config) if parsed.config else next((f for f in DEFAULT_FILES if f.exists()), None)
    given = {key: getattr(parsed, name, None) for name, key in FLAGS.items()}
    flags = {key: value for key, value in given.items() if value is not None}
    return load(
        file=file,
        environment=os.environ,
        flags=flags,
        warn=lambda text: print(f"netautod: {text}", file=sys.stderr),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="netautod", description="A self-hosted network-automation service.")
    parser.add_argument("--version", action="version", version=f"netautod {__version__}")
    found = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    common.add_argument("--data-dir", metavar="DIR", help="folder of everything the service keeps")
    common.add_argument("--mongodb-uri", metavar="URI", help="use this MongoDB instead of an own one")

    def command(within: Any, name: str, run: Callable[..., int], help: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = within.add_parser(name, parents=[common], help=help, description=help)
        made.set_defaults(run=run)
        return made

    serve = command(found, "serve", _serve, "run the service")
    serve.add_argument("--host", help="address to listen on")
    serve.add_argument("--port", type=int, help="TCP port; 0 picks a free one")
    serve.add_argument("--demo", action="store_true", help="add two simulated switches and a backup task")
    serve.add_argument(
        "--workers", type=_positive, default=1, metavar="N", help="equal processes on one socket"
    )
    serve.add_argument("--worker-fd", type=int, help=argparse.SUPPRESS)
    command(found, "check-config", _check_config, "read the settings, say what is wrong, and end")
    command(found, "plugins", _plugins, "list the plugins and whether they work")
    command(found, "openapi", _openapi, "print the OpenAPI description")
    imports = command(found, "import", import_command.run, "import devices from a CSV or JSON file")
    import_command.add_arguments(imports)
    rotate = command(found, "rotate-keys", _rotate_keys, "make new organization keys and re-wrap all secrets")
    rotate.add_argument("--jwt", action="store_true", help="instead: a new key that signs access tokens")
    sync = command(found, "sync", sync_command.run, "synchronise devices with a saved inventory source")
    sync_command.add_arguments(sync)
    _add_users(found.add_parser("user", help="manage users"), command)
    _add_organizations(found.add_parser("org", help="manage organizations"), command)
    return parser


def _add_users(parser: argparse.ArgumentParser, command: Callable[..., argparse.ArgumentParser]) -> None:
    found = parser.add_subparsers(required=True, metavar="COMMAND")
    add = command(found, "add", _user_add, "add a local user")
    add.add_argument("username")
    add.add_argument("--role", action="append", default=[], dest="roles", help="may be given again")
    add.add_argument("--org", default="default", help="organization (default: default)")
    add.add_argument("--email")
    command(found, "list", _user_list, "list all users")
    for name, run, help in (
        ("passwd", _user_passwd, "set a user's password and end his sessions"),
        ("disable", _user_disable, "disable a user and end his sessions"),
        ("enable", _user_enable, "let a disabled user log in again"),
        ("unlock", _user_unlock, "clear the failed logins of a user"),
    ):
        command(found, name, run, help).add_argument("username")


def _add_organizations(
    parser: argparse.ArgumentParser, command: Callable[..., argparse.ArgumentParser]
) -> None:
    found = parser.add_subparsers(required=True, metavar="COMMAND")
    create = command(found, "create", _org_create, "create an organization with its first administrator")
    create.add_argument("name")
    create.add_argument("--admin", required=True, metavar="USERNAME")
    command(found, "list", _org_list, "list the organizations")


def _serve(parsed: argparse.Namespace, settings: Settings) -> int:
    def out(line: str) -> None:
        print(line, flush=True)

    if parsed.workers == 1:
        asyncio.run(server.serve(settings, with_demo=parsed.demo, out=out, worker_fd=parsed.worker_fd))
        return 0
    arguments = [
        word
        for name in ("config", *FLAGS)
        if (value := getattr(parsed, name, None)) is not None
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    asyncio.run(
        supervisor.supervise(
            settings, workers=parsed.workers, with_demo=parsed.demo, arguments=arguments, out=out
        )
    )
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 64:
        raise argparse.ArgumentTypeError("must be 1 to 64")
    return number


def _check_config(parsed: argparse.Namespace, settings: Settings) -> int:
    print("the settings are valid")
    return 0


def _plugins(parsed: argparse.Namespace, settings: Settings) -> int:
    statuses = commands.plugin_statuses(settings)
    for status in statuses:
        print(f"{status.name:<20} {status.version or '-':<10} {'ok' if status.ok else status.error}")
    return 0 if all(status.ok for status in statuses) else 1


def _openapi(parsed: argparse.Namespace, settings: Settings) -> int:
    print(json.dumps(app.description(), indent=2))
    return 0


def _rotate_keys(parsed: argparse.Namespace, settings: Settings) -> int:
    work = commands.rotate_signing_key if parsed.jwt else commands.rotate_keys
    for line in _run(work(settings)):
        print(line)
    return 0


def _user_add(parsed: argparse.Namespace, settings: Settings) -> int:
    password = _password()
    _run(
        commands.add_user(
            settings,
            organization=parsed.org,
            username=parsed.username,
            password=password,
            roles=tuple(parsed.roles),
            email=parsed.email,
        )
    )
    print(f"user {parsed.username} added")
    return 0


def _user_list(parsed: argparse.Namespace, settings: Settings) -> int:
    for user in _run(commands.users(settings)):
        state = "active" if user.is_active else "disabled"
        print(f"{user.username:<24} {user.auth_provider:<6} {state:<9} {', '.join(user.role_names)}")
    return 0


def _user_passwd(parsed: argparse.Namespace, settings: Settings) -> int:
    _run(commands.set_password(settings, parsed.username, _password()))
    print(f"password of {parsed.username} set; all sessions ended")
    return 0


def _user_disable(parsed: argparse.Namespace, settings: Settings) -> int:
    _run(commands.disable_user(settings, parsed.username))
    print(f"user {parsed.username} disabled")
    return 0


def _user_enable(parsed: argparse.Namespace, settings: Settings) -> int:
    _run(commands.enable_user(settings, parsed.username))
    print(f"user {parsed.username} enabled")
    return 0


def _user_unlock(parsed: argparse.Namespace, settings: Settings) -> int:
    _run(commands.unlock_user(settings, parsed.username))
    print(f"failed logins of {parsed.username} cleared")
    return 0


def _org_create(parsed: argparse.Namespace, settings: Settings) -> int:
    created = _run(commands.create_organization(settings, parsed.name, parsed.admin))
    print(f"organization {created.organization.name} created, administrator {created.admin}")
    if created.generated_password is not None:
        print(f"password: {created.generated_password}")
    return 0


def _org_list(parsed: argparse.Namespace, settings: Settings) -> int:
    for organization in _run(commands.organizations(settings)):
        print(organization.name)
    return 0


def _run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def _password() -> str:
    """From a pipe, or asked twice. Not NETAUTOD_ADMIN_PASSWORD, which is for the user `admin` alone."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise InvalidInput("the two passwords differ")
    return first


if __name__ == "__main__":
    sys.exit(main())
