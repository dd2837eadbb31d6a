"""netautod rotate-keys while two nodes write secrets: killed in the middle, called again, nothing is left."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.data.stores import SEALED_FIELDS
from netautod.core.identity.caller import OrgId
from netautod.secrets.vault.vault import INSTALLATION, Vault
from netautod.store.client import Database
from tests.support.client import ApiClient
from tests.support.locked import locked
from tests.support.programs.service import NETAUTOD, QUICK_LEASES, environment, run, serving
from tests.support.programs.started import started

pytestmark = pytest.mark.slow
PAUSE = 0.2
SEEDS = 6


class Writer:
    """Makes credentials and changes them, over one node; `secrets` is what each has by now."""

    def __init__(self, client: ApiClient, name: str) -> None:
        self._client = client
        self._name = name
        self.secrets: dict[str, str] = {}
        self.writes = 0

    async def write_forever(self) -> None:
        while True:
            number = self.writes
            name, secret = f"{self._name}-{number}", f"secret {number} of {self._name}"
            fields = {"name": name, "credential_type": "ssh_password", "username": "u", "secret": secret}
            made = (await self._client.post("/api/credentials", fields)).expect(201)
            self.secrets[made["id"]] = secret
            changed = next(iter(self.secrets))
            self.secrets[changed] = f"{secret}, changed"
            (await self._client.put(f"/api/credentials/{changed}", {"secret": f"{secret}, changed"})).expect()
            self.writes += 1
            await asyncio.sleep(PAUSE)


async def under_old_keys(database: Database) -> dict[str, int]:
    """By field how many values are not under their organization's newest key."""
    newest = {row["_id"]: row["newest"] for row in await database.collection("vault_keys").find({})}
    found: dict[str, int] = {}
    for field in SEALED_FIELDS:
        rows = await database.collection(field.collection).find({f"{field.path}.wrapped": {"$exists": True}})
        old = [row for row in rows if _version(row, field.path) < newest[row.get("org_id", INSTALLATION)]]
        if old:
            found[f"{field.collection}.{field.path}"] = len(old)
    return found


def _version(row: Any, path: str) -> int:
    for name in path.split("."):
        row = row[name]
    return int(row["key_version"])


@pytest.mark.timeout(600)
async def test_nothing_is_unreadable_and_nothing_is_left_under_the_old_keys(
    database: Database, mongo_uri: str, tmp_path: Path
) -> None:
    place = {"NETAUTOD_MONGODB_URI": mongo_uri, "NETAUTOD_MONGODB_DATABASE": database.name, **QUICK_LEASES}
    key = {"NETAUTOD_MASTER_KEY_FILE": str(tmp_path / "one" / "master.key")}
    credentials = database.collection("credentials")
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(serving(tmp_path / "one", variables=place))
        two = await stack.enter_async_context(serving(tmp_path / "two", variables={**place, **key}))
        admin = await one.client()
        writers = [Writer(admin, "one"), Writer(admin_of(two.url, admin), "two")]
        tasks = [asyncio.create_task(writer.write_forever()) for writer in writers]
        stack.callback(lambda: [task.cancel() for task in tasks])
        while min(writer.writes for writer in writers) < SEEDS:  # noqa: ASYNC110  # they go on
            await asyncio.sleep(PAUSE)
        [held] = await credentials.find({}, sort=[("_id", -1)], limit=1)
        command = (*NETAUTOD, "rotate-keys", "--data-dir", str(tmp_path / "one"))
        others = {"sealed.secret.key_version": 2, "_id": {"$lt": held["_id"]}}
        with locked(mongo_uri, database.name, "credentials", held["_id"]):
            async with started(*command, env=environment(**place), slow_to_leave=True) as process:
                while not await credentials.count(others):  # noqa: ASYNC110  # nor does the database tell
                    await asyncio.sleep(0.05)
                assert process.returncode is None
                process.kill()
                await process.wait()
        assert await under_old_keys(database) != {}
        assert await database.collection("vault_progress").count({"_id": "rotation"}) == 1
        finished = await run("rotate-keys", *command[-2:], variables=place, seconds=200)
        # A heartbeat of its short lease may be late on a loaded machine, and is tried again.
        assert finished.code == 0, finished
        assert " ERROR " not in finished.err, finished
        lines = finished.out.splitlines()
        assert lines[0] == "going on with the rotation that did not end"
        assert lines[1] == "organization default: key version 2"
        assert "waiting" in finished.out
        assert lines[-1].endswith(" secrets re-wrapped, 0 failed")
        assert not any(task.done() for task in tasks), tasks
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert await under_old_keys(database) == {}
    assert await database.collection("vault_progress").count({}) == 0
    rotated = await database.collection("audit_events").count({"action": "vault_key.rotate"})
    assert rotated == 2  # the organization's and the installation's, once each
    vault = await Vault.open(database, data_dir=tmp_path / "one", environ={})
    known = {**writers[0].secrets, **writers[1].secrets}
    # Those that were being written when the test ended may have either text.
    in_doubt = {next(iter(writer.secrets)) for writer in writers}
    for row in await credentials.find({}):
        place_of = (OrgId(row["org_id"]), "credentials", row["_id"], "sealed.secret")
        opened = (await vault.unseal(*place_of, row["sealed"]["secret"])).decode()
        if row["_id"] in known and row["_id"] not in in_doubt:
            assert opened == known[row["_id"]]


def admin_of(url: str, client: ApiClient) -> ApiClient:
    """The same caller at another node."""
    return ApiClient(base_url=url, description=client.description, token=client.token)
