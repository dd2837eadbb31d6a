"""The administrator's commands about users and keys, on the configured database."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from netautod.cli import entry as cli
from netautod.store.client import Database
from tests.identity.auth.support import INFO, Node
from tests.support.installation import PASSWORD

WRONG = "wrong horse battery staple"
Command = Callable[..., Awaitable[int]]


@pytest.fixture
def command(mongo_uri: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """`code = await command("user", "enable", "ann")`, in this process and on the test's database."""
    monkeypatch.setattr("netautod.core.logs.setup.configure", lambda **_: None)
    monkeypatch.setenv("NETAUTOD_MONGODB_DATABASE", database.name)
    place = ("--data-dir", str(tmp_path), "--mongodb-uri", mongo_uri)

    async def call(*words: str) -> int:
        # A loop of its own, as on the command line.
        return await asyncio.to_thread(cli.main, [*words, *place])

    return call


async def test_a_disabled_user_is_enabled_again(node: Node, command: Command) -> None:
    await node.installation.add("carla", "viewer")
    tokens = await node.log_in("carla")
    assert await command("user", "disable", "carla") == 0
    with pytest.raises(Exception, match="Invalid username or password"):
        await node.log_in("carla")
    assert await command("user", "enable", "Carla") == 0
    assert (await node.log_in("carla")).expires_in == 3600
    with pytest.raises(Exception, match="Invalid or expired token"):  # what had ended stays ended
        await node.auth.refresh(tokens.refresh_token, INFO)
    events = await node.documents("audit_events", {"actor_name": "cli", "action": {"$regex": "able$"}})
    assert [event["action"] for event in events] == ["user.disable", "user.enable"]


async def test_an_administrator_who_is_locked_out_is_unlocked(node: Node, command: Command) -> None:
    for _ in range(11):
        with pytest.raises(Exception, match=r"Invalid|Too many"):
            await node.log_in(password=WRONG)
    with pytest.raises(Exception, match="Too many failed"):
        await node.log_in()
    assert await command("user", "unlock", "admin") == 0
    assert await command("user", "unlock", "nobody") == 0
    assert (await node.log_in()).expires_in == 3600
    assert len(await node.documents("audit_events", {"action": "user.unlock"})) == 1


@pytest.mark.parametrize("name", ["enable", "disable"])
async def test_an_unknown_user_is_told(
    node: Node, command: Command, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await command("user", name, "nobody") == 1
    assert capsys.readouterr() == ("", "netautod: User not found\n")


async def test_a_rotation_from_the_command_line_logs_nobody_out(
    node: Node, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    old = await node.logins.keys.signing()
    token = (await node.log_in()).access_token
    assert await command("rotate-keys", "--jwt") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert await command("rotate-keys", "--jwt") == 1
    assert "under way" in capsys.readouterr().err
    node.clock.move(90)
    fresh = (await node.log_in(password=PASSWORD)).access_token
    assert (await node.logins.keys.signing()).kid != old.kid
    for found in (token, fresh):
        assert (await node.authenticator.authenticate(found, INFO)).username == "admin"
    assert len(await node.documents("audit_events", {"action": "signing_key.rotate"})) == 1


async def test_the_keys_of_secrets_are_rotated_for_every_organization(
    node: Node, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await command("rotate-keys") == 0
    assert capsys.readouterr().out.splitlines() == [
        "organization default: key version 2",
        "installation: key version 2",
        "1 secret re-wrapped, 0 failed",
    ]
    rotated = await node.documents("audit_events", {"action": "vault_key.rotate"})
    assert [event["details"]["of"] for event in rotated] == ["organization", "installation"]


async def test_a_rotation_waits_for_another_one_and_then_gives_up(
    node: Node, command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETAUTOD_EXECUTIONS_LEASE_SECONDS", "3")
    monkeypatch.setenv("NETAUTOD_EXECUTIONS_ABANDON_SECONDS", "2")
    monkeypatch.setenv("NETAUTOD_EXECUTIONS_HEARTBEAT_SECONDS", "1")
    monkeypatch.setattr("netautod.cli.data.keys.PATIENCE_SECONDS", -2.9)
    far = {"owner": "other", "epoch": 1, "claim": "c", "lease_until": datetime(2100, 1, 1, tzinfo=UTC)}
    await node.installation.database.collection("leases").insert({"_id": "rotate-keys", **far})
    assert await command("rotate-keys") == 1
    assert "Another rotate-keys is at work" in capsys.readouterr().err
    assert await node.documents("audit_events", {"action": "vault_key.rotate"}) == []


async def test_a_lost_passphrase_of_the_notes_is_forgotten(
    node: Node, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await command("vault", "reset", "default", "--yes") == 1
    assert "No vault password is set" in capsys.readouterr().err
    assert await command("vault", "reset", "elsewhere", "--yes") == 1
    assert "Organization not found" in capsys.readouterr().err
    org_id = await node.installation.people.organizations.default_id()
    wrap = {"salt": b"s", "memory_kib": 1, "passes": 1, "lanes": 1, "box": b"b"}
    vault = {"_id": org_id, "org_id": org_id, "unlocked_until": None, "passphrase": wrap}
    await node.installation.database.collection("notes_vaults").insert(vault)
    assert await command("vault", "reset", "default") == 2
    assert "there is no terminal to ask at" in capsys.readouterr().err
    assert await command("vault", "reset", "default", "--yes") == 0
    told = "0 notes of default deleted; notes need no passphrase until a new one is set"
    assert capsys.readouterr().out.splitlines() == [told]
    assert await node.documents("notes_vaults") == []
    [event] = await node.documents("audit_events", {"action": "vault.reset"})
    assert event["details"] == {"notes": 0}
