"""`netautod import`: the same results as over HTTP, on the configured database."""

import asyncio
import json
import os
import termios
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from netautod.assembly.configuration import Configuration
from netautod.assembly.settings import Settings
from netautod.cli.data.import_devices import SHOWN_ERRORS, import_devices
from netautod.cli.people.organizations import create_organization
from netautod.core.errors import InvalidInput, NotFound
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.store.client import Database, Document
from netautod.store.settings import MongoDBSettings
from tests.network.devices.inventory import DEVICE
from tests.network.inventory.imports.files import GOOD, HEAD
from tests.support.programs.service import NETAUTOD, Finished, environment, run

Import = Callable[..., Awaitable[Finished]]


@pytest.fixture
def imported(mongo_uri: str, database: Database, tmp_path: Path) -> Import:
    """`done = await imported("file", "--flag", given="standard input")`"""

    async def call(*arguments: str, given: str = "") -> Finished:
        flags = ("--data-dir", str(tmp_path / "data"), "--mongodb-uri", mongo_uri)
        variables = {"NETAUTOD_MONGODB_DATABASE": database.name}
        done = await run("import", *arguments, *flags, given=given, variables=variables, cwd=tmp_path)
        assert "Traceback" not in done.err
        return done

    return call


async def devices(database: Database) -> list[Document]:
    return await database.collection("devices").find({}, sort=[("name", 1)])


async def test_a_csv_is_imported_and_its_bad_rows_are_told(
    imported: Import, database: Database, tmp_path: Path
) -> None:
    bad = "".join(f"bad-{number},a b,linux\n" for number in range(SHOWN_ERRORS + 3))
    (tmp_path / "Devices.CSV").write_text(f"{GOOD}{bad}a,10.0.0.1,linux\n")
    dry = await imported("Devices.CSV", "--dry-run")
    assert (dry.code, dry.out.splitlines()[0]) == (1, "would import 1, failed 24")
    assert "warning" not in dry.out
    assert await devices(database) == []
    done = await imported("Devices.CSV")
    lines = done.out.splitlines()
    assert (done.code, lines[0], lines[-1]) == (1, "imported 1, failed 24", "and 4 more")
    assert lines[1] == "row 2 bad-0: host: Must be a host name or an IP address"
    assert len(lines) == SHOWN_ERRORS + 2
    assert "rows" not in done.err  # no bar where nobody watches
    assert [(device["name"], device["source"]) for device in await devices(database)] == [("a", "csv")]
    events = await database.collection("audit_events").find({"action": "device.import"})
    assert [(event["actor_name"], event["details"]["imported"]) for event in events] == [("cli", 1)]


async def test_json_comes_from_the_standard_input(imported: Import, database: Database) -> None:
    done = await imported("-", "--format", "json", given=json.dumps([DEVICE]))
    assert (done.code, done.out) == (0, "imported 1, failed 0\n")
    assert [device["source"] for device in await devices(database)] == ["manual"]


async def test_on_a_terminal_there_is_a_bar(mongo_uri: str, database: Database, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(GOOD)
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = await asyncio.create_subprocess_exec(
        *(*NETAUTOD, "import", "d.csv", "--data-dir", str(tmp_path / "data"), "--mongodb-uri", mongo_uri),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=theirs,
        env=environment(NETAUTOD_MONGODB_DATABASE=database.name),
        cwd=tmp_path,
    )
    os.close(theirs)
    async with asyncio.timeout(60):
        out, _ = await process.communicate()
    assert "0 rows" in read_to_the_end(ours)
    assert (process.returncode, out) == (0, b"imported 1, failed 0\n")


def read_to_the_end(terminal: int) -> str:
    """What was written to the other end of the pseudo-terminal, which nobody has open any more."""
    parts = []
    with suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as file:  # pty(7): EIO at the end
        while part := file.read(4096):
            parts.append(part)
    return b"".join(parts).decode()


async def test_the_check_warns_of_device_types_that_nothing_has(imported: Import) -> None:
    given = f"{HEAD}\na,10.0.0.1,cisco_isos\n"
    dry = await imported("-", "--format", "csv", "--dry-run", given=given)
    text = "no platform is called cisco_isos: this row is handled as generic; did you mean cisco_ios?"
    assert (dry.code, dry.out.splitlines()[1:]) == (0, [f"warning: row 1 a: device_type: {text}"])


@pytest.mark.parametrize(
    ("arguments", "given", "text"),
    [
        pytest.param(["-"], GOOD, "-: neither .csv nor .json; name the format with --format", id="no format"),
        pytest.param(["absent.csv"], "", "absent.csv: No such file or directory", id="no file"),
        pytest.param(["."], "", ".: neither .csv nor .json", id="a folder"),
        pytest.param([".", "--format", "csv"], "", ".: Is a directory", id="a folder with a format"),
        pytest.param(["-", "--format", "csv"], "", "The file is empty", id="nothing"),
        pytest.param(["-", "--format", "json"], GOOD, "must be a JSON array", id="another format"),
        pytest.param(["-", "--format", "csv"], f'{HEAD}\n"a', "a quote is never closed", id="no CSV"),
        pytest.param(["-", "--format", "csv"], "x" * 17_000_000, "larger than 16777216 bytes", id="too much"),
        pytest.param(
            ["-", "--format", "csv", "--organization", "nobody"], GOOD, "Organization not found", id="no org"
        ),
    ],
)
async def test_a_refusal_is_one_line(imported: Import, arguments: list[str], given: str, text: str) -> None:
    done = await imported(*arguments, given=given)
    assert done.code == (1 if "nobody" in arguments else 2)
    last = done.err.splitlines()[-1]
    assert last.startswith("netautod: ")
    assert text in last
    assert done.out == ""


async def test_of_several_organizations_one_must_be_named(
    mongo_uri: str, database: Database, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, mongodb=MongoDBSettings(uri=mongo_uri, database=database.name))
    configuration = Configuration(settings=settings, plugins=LoadedPlugins.of({}))

    async def import_into(organization: str | None) -> int:
        result = await import_devices(
            configuration,
            CsvFile(GOOD.encode()),
            organization=organization,
            dry_run=False,
            progress=lambda done, total: None,
        )
        return result.imported

    assert await import_into(None) == 1
    branch = (await create_organization(settings, "branch", "bob")).organization
    with pytest.raises(InvalidInput, match=r"2 organizations \(.*branch.*\); name one with --organization"):
        await import_into(None)
    assert await import_into("branch") == 1
    with pytest.raises(NotFound):
        await import_into("nobody")
    assert {device["org_id"] for device in await devices(database)} > {branch.id}
