"""The commands `netautod user ...`: local users, their passwords, and users who are locked out."""

import argparse
import asyncio
import getpass
import sys
from collections.abc import Awaitable, Callable

from netautod.assembly.configuration import Configuration
from netautod.assembly.identity import build_lockout, build_otp
from netautod.assembly.settings import Settings
from netautod.cli.installation import opened
from netautod.cli.output import say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.identity.caller import Caller, system_caller
from netautod.identity.users.models import NewUser, User
from netautod.identity.users.service import UserService


def add(commands: Commands) -> None:
    group = commands.group("user", "manage users")
    parser = group.add("add", _add, "add a local user")
    parser.add_argument("username")
    parser.add_argument(
        "--role", action="append", default=[], dest="roles", help="a role of the user; may be repeated"
    )
    parser.add_argument("--org", default="default", help="organization (default: default)")
    parser.add_argument("--email")
    _may_force_change(parser)
    group.add("list", _list, "list all users")
    parser = group.add("passwd", _passwd, "set a user's password and end the user's sessions")
    parser.add_argument("username")
    _may_force_change(parser)
    for name, run, help in (
        ("disable", _disable, "disable a user and end the user's sessions"),
        ("enable", _enable, "let a disabled user log in again"),
        ("unlock", _unlock, "clear the failed logins of a user"),
        ("remove-otp", _remove_otp, "let a user log in without a one-time code"),
    ):
        group.add(name, run, help).add_argument("username")


def _add(parsed: argparse.Namespace, configuration: Configuration) -> int:
    new = NewUser(
        username=parsed.username,
        password=_password(),
        roles=tuple(parsed.roles),
        email=parsed.email,
        must_change_password=parsed.must_change,
    )
    asyncio.run(_add_user(configuration.settings, parsed.org, new))
    say(f"user {parsed.username} added")
    return 0


async def _add_user(settings: Settings, organization: str, new: NewUser) -> None:
    async with opened(settings, makes_one=True) as installation:
        found = await installation.people.organizations.by_name(organization)
        await installation.people.users.create(system_caller(found.id), new)


def _list(parsed: argparse.Namespace, configuration: Configuration) -> int:
    for user in asyncio.run(_all_users(configuration.settings)):
        state = "active" if user.is_active else "disabled"
        say(f"{user.username:<24} {user.auth_provider:<6} {state:<9} {', '.join(user.role_names)}")
    return 0


async def _all_users(settings: Settings) -> list[User]:
    async with opened(settings) as installation:
        return await installation.people.users.all_users()


def _passwd(parsed: argparse.Namespace, configuration: Configuration) -> int:
    name, password, must_change = parsed.username, _password(), parsed.must_change

    async def set_password(users: UserService, caller: Caller) -> None:
        await users.set_password(caller, name, password, must_change=must_change)

    _manage(configuration.settings, name, set_password)
    say(f"password of {name} set; all sessions ended")
    return 0


def _disable(parsed: argparse.Namespace, configuration: Configuration) -> int:
    name = parsed.username
    _manage(configuration.settings, name, lambda users, caller: users.disable(caller, name))
    say(f"user {name} disabled")
    return 0


def _enable(parsed: argparse.Namespace, configuration: Configuration) -> int:
    name = parsed.username
    _manage(configuration.settings, name, lambda users, caller: users.enable(caller, name))
    say(f"user {name} enabled")
    return 0


def _manage(
    settings: Settings, username: str, work: Callable[[UserService, Caller], Awaitable[object]]
) -> None:
    """Do the work as a caller who may manage this user, whatever the organization."""

    async def managed() -> None:
        async with opened(settings) as installation:
            users = installation.people.users
            user = await users.by_username(username)
            if user is None:
                raise NotFound("User not found")
            await work(users, system_caller(user.org_id))

    asyncio.run(managed())


def _unlock(parsed: argparse.Namespace, configuration: Configuration) -> int:
    asyncio.run(_unlock_user(configuration.settings, parsed.username))
    say(f"failed logins of {parsed.username} cleared")
    return 0


async def _unlock_user(settings: Settings, username: str) -> None:
    """Unlock a user, also a name that no user has: its failures count like those of others."""
    async with opened(settings) as installation:
        await build_lockout(installation).unlock(username)
        user = await installation.people.users.by_username(username)
        if user is not None:
            await installation.audit.record(system_caller(user.org_id), "user.unlock", "user", user.id)


def _remove_otp(parsed: argparse.Namespace, configuration: Configuration) -> int:
    asyncio.run(_remove_codes(configuration.settings, parsed.username))
    say(f"{parsed.username} logs in without a one-time code")
    return 0


async def _remove_codes(settings: Settings, username: str) -> None:
    async with opened(settings) as installation:
        user = await installation.people.users.by_username(username)
        if user is None:
            raise NotFound("User not found")
        otp = build_otp(installation, build_lockout(installation))
        await otp.remove(system_caller(user.org_id), user.id)


def _may_force_change(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--must-change", action="store_true", help="the user must change the password first")


def _password() -> str:
    """Read the password from a pipe, or twice from the terminal. Not NETAUTOD_ADMIN_PASSWORD, which is for
    the user `admin` alone.
    """
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise InvalidInput("the two passwords differ")
    return first
