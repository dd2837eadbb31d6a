"""netautod org delete beside a service at work: killed in the middle, called again, nothing is left."""

import asyncio
from pathlib import Path

import pytest

from netautod.core.identity.caller import OrgId
from netautod.store.client import Database, Document
from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.client import assert_error
from tests.support.locked import locked
from tests.support.organizations import of_organization, unknown_collections
from tests.support.populating import DEVICE_PASSWORD, PASSWORD, populate
from tests.support.programs.service import NETAUTOD, QUICK_LEASES, environment, run, serving
from tests.support.programs.started import started

pytestmark = pytest.mark.slow
FOR_EVER = 3600.0


async def stored(database: Database) -> dict[str, list[Document]]:
    names = await database._raw.list_collection_names()
    return {name: await database.collection(name).find({}) for name in names}


@pytest.mark.timeout(600)
async def test_an_organization_at_work_goes_with_everything(
    database: Database, mongo_uri: str, tmp_path: Path
) -> None:
    place = {
        "NETAUTOD_MONGODB_URI": mongo_uri,
        "NETAUTOD_MONGODB_DATABASE": database.name,
        "NETAUTOD_ADMIN_PASSWORD": PASSWORD,
        **QUICK_LEASES,
    }
    flags = ("--data-dir", str(tmp_path))
    async with (
        SimulatedDevice(hostname="kept", password=DEVICE_PASSWORD) as switch,
        SimulatedDevice(hostname="acme", password=DEVICE_PASSWORD) as slow,
        serving(tmp_path, variables=place) as service,
    ):
        created = await run("org", "create", "acme", "--admin", "acme-admin", *flags, variables=place)
        assert created.code == 0, created
        ours = Console(client=await service.client("admin", PASSWORD))
        theirs = Console(client=await service.client("acme-admin", PASSWORD))
        kept = await populate(ours, "kept", switch)
        made = await populate(theirs, "acme", slow)
        machine = (await service.anonymous()).with_token(made["token"])
        assert (await machine.get("/api/devices")).status == 200
        slow.latency = FOR_EVER  # a run that does not end by itself
        running = await theirs.start(made["task"])
        await theirs.until(running, "running")
        [organization] = await database.collection("organizations").find({"name": "acme"})
        acme = OrgId(organization["_id"])

        refused = await run("org", "delete", "acme", *flags, variables=place)
        assert (refused.code, "--yes" in refused.err) == (2, True), refused

        command = ("org", "delete", "acme", "--yes", *flags)
        role = made["role"]
        with locked(mongo_uri, database.name, "roles", role):
            deleting = started(*NETAUTOD, *command, env=environment(**place), slow_to_leave=True)
            async with deleting as process:
                users, tasks = database.collection("users"), database.collection("tasks")
                while await users.count({"org_id": acme}):
                    assert process.returncode is None
                    await asyncio.sleep(0.05)
                assert await tasks.count({"org_id": acme}) == 0
                process.kill()
                await process.wait()
        login = {"username": "acme-admin", "password": PASSWORD}
        assert_error(await (await service.anonymous()).post("/api/auth/login", login), 401)
        assert_error(await theirs.client.get("/api/devices"), 401)
        assert_error(await machine.get("/api/devices"), 401)
        listed = await run("org", "list", *flags, variables=place)
        assert listed.out.splitlines() == ["acme (being deleted: netautod org delete)", "default"]
        again = await run("org", "create", "acme", "--admin", "acme-admin", *flags, variables=place)
        assert (again.code, "is being deleted" in again.err) == (1, True)

        finished = await run(*command, variables=place)
        assert (finished.code, finished.err) == (0, ""), finished
        assert finished.out.splitlines()[-1] == "organization acme deleted"
        found = await stored(database)
        assert unknown_collections(found) == set()
        assert of_organization(found, acme, "acme") == {}
        run_again = await ours.run(kept["task"])
        assert run_again["state"] == "completed"
        assert await ours.versions(kept["device"]) == [2, 1]
        told = (await ours.read("/api/audit?resource_type=organization&limit=10"))["events"]
        assert [event["action"] for event in told] == [
            "organization.deleted",
            "organization.delete",
            "organization.create",
        ]
        fresh = await run("org", "create", "acme", "--admin", "acme-admin", *flags, variables=place)
        assert fresh.code == 0, fresh
