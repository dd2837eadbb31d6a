"""The administrator's commands about users and keys, on the configured database."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from netautod.app.settings import Settings
from netautod.cli import commands
from netautod.cli import entry as cli
from netautod.core.errors import Conflict, NotFound
from netautod.store.client import Database
from netautod.store.settings import MongoDBSettings
from tests.auth.support import INFO, Node
from tests.users.support import PASSWORD

WRONG = "wrong horse battery staple"


@pytest.fixture
def settings(mongo_uri: str, database: Database, tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, mongodb=MongoDBSettings(uri=mongo_uri, database=database.name))


async def test_a_disabled_user_is_enabled_again(node: Node, settings: Settings) -> None:
    await node.installation.add("carla", "viewer")
    tokens = await node.log_in("carla")
    await commands.disable_user(settings, "carla")
    with pytest.raises(Exception, match="Invalid username or password"):
        await node.log_in("carla")
    await commands.enable_user(settings, "Carla")
    assert (await node.log_in("carla")).expires_in == 3600
    with pytest.raises(Exception, match="Invalid or expired token"):  # what had ended stays ended
        await node.auth.refresh(tokens.refresh_token, INFO)
    events = await node.documents("audit_events", {"actor_name": "cli", "action": {"$regex": "able$"}})
    assert [event["action"] for event in events] == ["user.disable", "user.enable"]


async def test_an_administrator_who_locked_himself_out_is_unlocked(node: Node, settings: Settings) -> None:
    for _ in range(11):
        with pytest.raises(Exception, match=r"Invalid|Too many"):
            await node.log_in(password=WRONG)
    with pytest.raises(Exception, match="Too many failed"):
        await node.log_in()
    await commands.unlock_user(settings, "admin")
    await commands.unlock_user(settings, "nobody")
    assert (await node.log_in()).expires_in == 3600
    assert len(await node.documents("audit_events", {"action": "user.unlock"})) == 1


@pytest.mark.parametrize("command", [commands.enable_user, commands.disable_user])
async def test_an_unknown_user_is_told(
    node: Node, settings: Settings, command: Callable[[Settings, str], Awaitable[None]]
) -> None:
    with pytest.raises(NotFound, match="User not found"):
        await command(settings, "nobody")


async def test_a_rotation_from_the_command_line_logs_nobody_out(node: Node, settings: Settings) -> None:
    old = await node.keys.signing()
    token = (await node.log_in()).access_token
    lines = await commands.rotate_signing_key(settings)
    assert len(lines) == 2
    with pytest.raises(Conflict, match="under way"):
        await commands.rotate_signing_key(settings)
    node.clock.move(90)
    fresh = (await node.log_in(password=PASSWORD)).access_token
    assert (await node.keys.signing()).kid != old.kid
    for found in (token, fresh):
        assert (await node.authenticator.authenticate(found, INFO)).username == "admin"
    assert len(await node.documents("audit_events", {"action": "signing_key.rotate"})) == 1


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        pytest.param(["user", "enable", "carla"], ["enable_user"], id="user enable"),
        pytest.param(["rotate-keys", "--jwt"], ["rotate_signing_key"], id="the key of access tokens"),
        pytest.param(["rotate-keys"], ["rotate_keys"], id="the keys of secrets"),
    ],
)
def test_which_command_does_what(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], called: list[str]
) -> None:
    monkeypatch.setattr("netautod.core.logs.configure", lambda **_: None)
    # Not asyncio.run, which would leave this thread without the event loop of the other tests.
    monkeypatch.setattr(cli, "_run", _without_loop)
    seen = []
    for name in ("enable_user", "rotate_signing_key", "rotate_keys"):

        async def noted(*args: object, name: str = name) -> list[str]:
            seen.append(name)
            return []

        monkeypatch.setattr(commands, name, noted)
    assert cli.main([*arguments, "--data-dir", str(tmp_path)]) == 0
    assert seen == called


def _without_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing."""
    with pytest.raises(StopIteration) as ended:
        work.send(None)
    return ended.value.value
