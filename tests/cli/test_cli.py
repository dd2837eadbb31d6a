"""The command line: what needs no database, and the commands on a data directory without a service."""

import json
import os
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from netautod import __version__
from netautod.cli import entry as cli
from netautod.store.client import Database
from tests.support.programs.service import NETAUTOD, environment, first_password, plugin_names, run
from tests.support.programs.started import started


async def test_the_version() -> None:
    done = await run("--version")
    assert (done.code, done.out) == (0, f"netautod {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param([], "the following arguments are required: COMMAND", id="no command"),
        pytest.param(["fly"], "invalid choice: 'fly'", id="an unknown command"),
        pytest.param(["user"], "the following arguments are required: COMMAND", id="half a command"),
        pytest.param(["serve", "--port", "http"], "argument --port: invalid int value", id="no number"),
        pytest.param(["serve", "--prot", "1"], "unrecognized arguments: --prot", id="an unknown flag"),
        pytest.param(["org", "create", "x"], "required: --admin", id="an organization without an admin"),
    ],
)
def test_a_wrong_call_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err


async def test_an_unknown_variable_is_a_warning_of_one_line() -> None:
    done = await run("check-config", variables={"NETAUTOD_SERVER_PROT": "1"})
    assert (done.code, done.out) == (0, "the settings are valid\n")
    assert done.err == "netautod: unknown environment variable NETAUTOD_SERVER_PROT is ignored\n"


async def test_check_config_reads_the_root_key_that_the_settings_name(tmp_path: Path) -> None:
    key = tmp_path / "master.key"
    variables = {"NETAUTOD_MASTER_KEY_FILE": str(key)}
    done = await run("check-config", variables=variables)
    assert (done.code, str(key) in done.err) == (1, True)
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    assert (await run("check-config", variables=variables)).code == 0


async def test_the_plugins_are_listed() -> None:
    done = await run("plugins")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert rows == [[name, __version__, "ok"] for name in plugin_names()]


async def test_a_disabled_plugin_is_not_listed() -> None:
    done = await run("plugins", variables={"NETAUTOD_PLUGINS_DISABLED": "agent"})
    listed = [line.split()[0] for line in done.out.splitlines()]
    assert sorted([*listed, "agent"]) == plugin_names()


async def test_a_missing_required_plugin_ends_the_start_with_one_line(tmp_path: Path) -> None:
    variables = {"NETAUTOD_PLUGINS_REQUIRED": "backup,teleport"}
    done = await run("serve", "--port", "0", "--data-dir", str(tmp_path), variables=variables)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == (
        "netautod: the required plugin teleport is not available: it is not installed, or disabled"
    )


async def test_check_config_names_a_missing_required_plugin() -> None:
    done = await run("check-config", variables={"NETAUTOD_PLUGINS_REQUIRED": "backup,nope"})
    assert (done.code, done.out) == (1, "")
    assert (
        done.err == "netautod: the required plugin nope is not available: it is not installed, or disabled\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["platform", "list"], id="line by line"),
        pytest.param(["platform", "list", "--json"], id="in one go"),
        pytest.param(["help", "use/inventory"], id="a command without settings"),
    ],
)
async def test_output_that_nothing_reads_ends_a_command_in_silence(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        env = environment()
        async with started(*NETAUTOD, *arguments, stdout=writer, stderr=PIPE, env=env) as process:
            _, err = await process.communicate()
    finally:
        os.close(writer)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["user", "list"], id="users"),
        pytest.param(["user", "unlock", "admin"], id="a user"),
        pytest.param(["org", "list"], id="organizations"),
        pytest.param(["audit", "verify"], id="the audit"),
        pytest.param(["rotate-keys"], id="keys"),
        pytest.param(["secret", "list"], id="secrets"),
        pytest.param(["sync", "netbox"], id="a sync"),
    ],
)
async def test_an_empty_folder_becomes_no_installation(tmp_path: Path, arguments: list[str]) -> None:
    done = await run(*arguments, "--data-dir", str(tmp_path))
    text = f"there is no installation in {tmp_path}: is --data-dir right?"
    assert (done.code, done.out, done.err) == (1, "", f"netautod: {text}\n")
    assert os.listdir(tmp_path) == []


async def test_nor_does_an_empty_database(mongo_uri: str, database: Database, tmp_path: Path) -> None:
    place = ("--data-dir", str(tmp_path), "--mongodb-uri", mongo_uri)
    done = await run("user", "list", *place, variables={"NETAUTOD_MONGODB_DATABASE": database.name})
    assert (done.code, "there is no installation in the database" in done.err) == (1, True)
    assert await database.collection("organizations").find({}) == []


async def test_the_openapi_description_needs_no_service(tmp_path: Path) -> None:
    done = await run("openapi", variables={"HOME": str(tmp_path)})
    assert (done.code, done.err) == (0, "")
    description = json.loads(done.out)
    assert description["openapi"].startswith("3.1")
    assert "/api/tasks/schedules" in description["paths"]
    assert os.listdir(tmp_path) == []


async def test_users_of_a_data_directory_without_a_service(tmp_path: Path) -> None:
    place = ("--data-dir", str(tmp_path))
    added = await run("user", "add", "ann", *place, given="a quite long password 17\n")
    assert (added.code, added.out) == (0, "user ann added\n"), added.err
    listed = await run("user", "list", *place)
    assert [line.split()[:3] for line in listed.out.splitlines()] == [
        ["admin", "local", "active"],
        ["ann", "local", "active"],
    ]
    # The first start was this one, so the administrator's password is where the manual says.
    assert len(first_password(tmp_path)) >= 16


async def test_the_first_password_of_the_administrator_is_for_nobody_else(tmp_path: Path) -> None:
    chosen = {"NETAUTOD_ADMIN_PASSWORD": "a first long password 17"}
    done = await run("user", "add", "ann", "--data-dir", str(tmp_path), variables=chosen, given="short\n")
    assert done.code == 2
    assert "password" in done.err.splitlines()[-1]
    # But the administrator has it, although this was no start of the service.
    assert not (tmp_path / "initial-admin-password").exists()


async def test_a_data_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = await run("user", "list", "--data-dir", str(tmp_path / "file" / "data"))
    assert done.code == 1
    assert done.err.startswith("netautod: ")
    assert len(done.err.splitlines()) == 1
