"""The commands about backups: what they say and how they end, on the configured database."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from netautod.core.errors import InvalidInput
from netautod.maintenance.archive.passphrase_file import read_passphrase
from netautod.store.client import Database
from netautod.store.embedded.life import HISTORY_PARAMETER, HISTORY_SECONDS
from tests.identity.auth.support import Node
from tests.support.databases import DatabasePool
from tests.support.programs.in_process import Commands
from tests.support.programs.service import Finished

PASSPHRASE = "correct horse battery staple"


@pytest.mark.parametrize(
    ("content", "passphrase"),
    [
        pytest.param(b"correct horse battery staple\n", PASSPHRASE, id="a line"),
        pytest.param(b"correct horse battery staple\r\n", PASSPHRASE, id="a line of Windows"),
        pytest.param(b"correct horse battery staple", PASSPHRASE, id="without its end"),
        pytest.param(b"  with blanks around  \n", "  with blanks around  ", id="blanks are of it"),
        pytest.param("zwölf Zeichen".encode(), "zwölf Zeichen", id="in UTF-8"),
        pytest.param(b"eleven char\n", None, id="too short"),
        pytest.param(b"", None, id="empty"),
        pytest.param(b"correct horse battery\nstaple\n", None, id="two lines"),
        pytest.param("zwölf Zeichen".encode("latin-1"), None, id="not in UTF-8"),
        pytest.param(bytes(5000), None, id="no passphrase at all"),
    ],
)
def test_the_file_of_a_passphrase(tmp_path: Path, content: bytes, passphrase: str | None) -> None:
    file = tmp_path / "passphrase"
    file.write_bytes(content)
    if passphrase is not None:
        assert read_passphrase(file) == passphrase
        return
    with pytest.raises(InvalidInput, match=f"--passphrase-file {file} "):
        read_passphrase(file)


@pytest.fixture
async def kept(database: Database) -> AsyncIterator[None]:
    """As on the servers of others."""
    admin = database._client.admin
    await admin.command({"setParameter": 1, HISTORY_PARAMETER: 300})
    yield
    await admin.command({"setParameter": 1, HISTORY_PARAMETER: HISTORY_SECONDS})


@pytest.mark.usefixtures("kept")
async def test_what_the_commands_say(
    node: Node, mongo_uri: str, databases: DatabasePool, commands: Commands, tmp_path: Path
) -> None:
    file, passphrase, target = tmp_path / "b", tmp_path / "passphrase", databases.fresh()
    passphrase.write_text(PASSPHRASE)
    (tmp_path / "target").mkdir()
    shutil.copy(tmp_path / "master.key", tmp_path / "target" / "master.key")

    async def call(command: str, name: str, folder: str, database: Database, *more: str) -> Finished:
        place = ("--data-dir", str(tmp_path / folder), "--mongodb-uri", mongo_uri)
        variables = {"NETAUTOD_MONGODB_DATABASE": database.name}
        return await commands(command, str(tmp_path / name), *place, *more, variables=variables)

    own, secret = node.installation.database, ("--passphrase-file", str(passphrase))
    plain = await call("backup", "plain", ".", own)
    assert plain.code == 0
    assert "warning: the backup is not encrypted; --passphrase-file does that" in plain.err
    made = await call("backup", "b", ".", own, *secret)
    assert made.code == 0
    assert "not encrypted" not in made.err
    assert made.out.splitlines()[-1].startswith("the master key is not in it")
    for again in (await call("backup", "b", ".", own), await call("restore", "none", "target", target)):
        assert again.code == 2
        assert str(tmp_path) in again.err
    into_itself = await call("restore", "b", ".", own, *secret)
    assert (into_itself.code, "is not empty" in into_itself.err) == (1, True)
    unknown = await call("restore", "b", "target", target)
    assert (unknown.code, "is encrypted: name its passphrase" in unknown.err) == (2, True)
    file.write_bytes(file.read_bytes()[:-1])
    damaged = await call("restore", "b", "target", target, *secret)
    assert (damaged.code, damaged.err.strip()) == (1, "netautod: The backup is cut off")
    done = await call("restore", "plain", "target", target)
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "1 organization is paused: POST /api/system/resume ends that, for each"
    )
    await target.drop()
