"""Writes the archive of the upgrade test: what the service of an earlier commit has stored, and its key.

    .venv/bin/python -m tests.upgrade.make_archive [COMMIT]

The commit is checked out into a folder of its own and serves from there, with the packages that are
installed here. The archive holds a file of BSON for each collection, the definitions of its indexes, the root
key of that installation, the first password, and what was made over HTTP (`made.json`).
"""

import asyncio
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bson
from pymongo import MongoClient

from netautod.store.embedded.mongod import find_running
from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.populating import DEVICE_PASSWORD, populate
from tests.support.programs.service import serving
from tests.support.programs.started import ROOT
from tests.upgrade.archive import ARCHIVE, DUMPED, FILES, MADE

# The last one before devices were vouched for, audit events chained, and API tokens had an end.
COMMIT = "b1f74a4706ed"


def check_out(commit: str, folder: Path) -> None:
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)


async def written_by(commit: str, folder: Path) -> Path:
    """The data folder of a service of that commit, with its dump in it."""
    source, data = folder / "source", folder / "data"
    source.mkdir()
    await asyncio.to_thread(check_out, commit, source)
    variables = {"PYTHONPATH": f"{source}:{source / 'plugins'}"}
    async with (
        SimulatedDevice(hostname="upgraded", password=DEVICE_PASSWORD) as switch,
        serving(data, variables=variables, cwd=source) as service,
    ):
        console = Console(client=await service.client())
        made = await populate(console, "upgraded", switch)
        (data / MADE).write_text(json.dumps(made, indent=1))
        uri = find_running(data)
        assert uri is not None
        dump(uri, data / DUMPED)
    return data


def dump(uri: str, folder: Path) -> None:
    folder.mkdir()
    client: MongoClient[Any] = MongoClient(uri, document_class=bson.raw_bson.RawBSONDocument)
    with client:
        database = client["netautod"]
        for name in sorted(database.list_collection_names()):
            documents = [document.raw for document in database[name].find({}, sort=[("_id", 1)])]
            (folder / f"{name}.bson").write_bytes(b"".join(documents))
            indexes = bson.encode({"indexes": list(database[name].list_indexes())})
            (folder / f"{name}.indexes").write_bytes(indexes)


def packed(data: Path) -> Iterator[tuple[str, bytes]]:
    for name in (*FILES, MADE):
        yield name, (data / name).read_bytes()
    for path in sorted((data / DUMPED).iterdir()):
        yield f"{DUMPED}/{path.name}", path.read_bytes()


def write(data: Path, archive: Path) -> None:
    with tarfile.open(archive, "w:xz") as tar:
        for name, content in packed(data):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else COMMIT
    with TemporaryDirectory() as folder:
        write(asyncio.run(written_by(commit, Path(folder))), ARCHIVE)
    sys.stdout.write(f"{ARCHIVE.relative_to(ROOT)}: {ARCHIVE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
