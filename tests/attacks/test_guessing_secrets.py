"""Attacks on a secret of a device by a reader who has a device of his own, and types guesses on it.

Three sites have the same device with the same community. The lab device of one has the right guess, those of
the others a wrong one. Whatever a reader asks, the answers for all sites are the same.
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, cast

import pytest

from netautod.automation.agents.tools.configs import ConfigTools
from netautod.automation.agents.tools.contract import Calling
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.core.work.context import Work
from netautod.network.configs.events.feed import ConfigFeed
from netautod.network.configs.events.outbox import _version_events
from netautod.plugin_api import DeviceResult, ResultTotals
from netautod.store.client import Database
from tests.network.configs.capture.test_learning import box
from tests.network.configs.fleet import Fleet, open_fleet
from tests.support.client import ApiClient
from tests.support.serving import Servers

COMMUNITY, WRONG, LONGER = "c4nary-7x", "gu3ss-8yy", "gu3ss-that-is-much-longer"
READ = "devices.access"
STORED = ("core", "lab")


def text(community: str) -> str:
    return f"hostname switch\nsnmp-server community {community} RO\ninterface Gi0/1\n mtu 1500\nend\n"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A site: its two devices, and a reader of the organization."""

    fleet: Fleet
    site: str
    core: str
    lab: str
    guess: str
    reader: ApiClient

    async def get(self, path: str) -> Any:
        found = await self.reader.get(path)
        assert found.status == 200, found.content
        return found.json

    def masked(self, answer: Any) -> str:
        """The answer without what has to differ from one site to the other."""
        shown = json.dumps(answer, default=str, sort_keys=True)
        for device_id, role in ((self.core, "core"), (self.lab, "lab")):
            shown = shown.replace(device_id, role)
        shown = re.sub(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "id", shown)
        shown = re.sub(r"\d{4}-\d\d-\d\d[T ][0-9:.+Z]+", "moment", shown)
        shown = re.sub(r'"(port|ssh_port)": \d+', "port", shown)
        return re.sub(r'"[^"]*_ms": \d+', "took", shown.replace(self.site, "site"))


@pytest.fixture(scope="module")
async def places(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[list[Place]]:
    """The site with the right guess, and those with wrong ones: as long as the secret, and longer."""
    folder = tmp_path_factory.mktemp("guesses")
    async with Servers() as servers, open_fleet(module_database, servers.serve, folder) as fleet:
        reader = fleet.with_permissions(READ)
        yield [await place_of(fleet, reader, guess) for guess in (COMMUNITY, WRONG, LONGER)]


async def place_of(fleet: Fleet, reader: ApiClient, guess: str) -> Place:
    site = hashlib.sha256(guess.encode()).hexdigest()[:8]
    ids = [
        await fleet.stored(f"{name}.{site}", text(community), site=site)
        for name, community in zip(STORED, (COMMUNITY, guess), strict=True)
    ]
    return Place(fleet=fleet, site=site, core=ids[0], lab=ids[1], guess=guess, reader=reader)


Door = Callable[[Place], Awaitable[Any]]


def of_devices(query: str) -> Door:
    async def answer(place: Place) -> Any:
        return await place.get(
            f"/api/config/diff?old_device_id={place.core}&new_device_id={place.lab}{query}"
        )

    return answer


def searched(query: str) -> Door:
    async def answer(place: Place) -> Any:
        return await place.get(f"/api/config/search?site={place.site}&{query}")

    return answer


def moving(community: str) -> Callable[[int], str]:
    """The configuration with lines that say another number at each reading, one of them below a secret."""
    return lambda reading: (
        f"hostname switch\nsnmp-server community {community} RO {reading}\n"
        f"snmp-server community {community} RW\n seen {reading}\nend\n"
    )


async def known_to_move(place: Place) -> Any:
    """Learn on the lab device alone which of its lines move: at a secret, and indented under one."""
    devices, names = [], (f"still.{place.site}", f"moving.{place.site}")
    for name, community in zip(names, (COMMUNITY, place.guess), strict=True):
        device, said = box(moving(community))
        await place.fleet.stack.enter_async_context(device)
        said.readings = 9 * (name == names[1])
        devices.append(await place.fleet.entry(name, device.port, device_type="generic"))
    for device_id in (devices[0], devices[1], devices[1], devices[1]):
        await place.fleet.pulled(device_id)
    noise = (await place.get(f"/api/config/devices/{devices[1]}/configs/latest"))["learned_noise"]
    assert len(noise) == 2
    path = f"/api/config/diff?old_device_id={devices[0]}&new_device_id={devices[1]}"
    answers = [await place.get(path), await place.get(f"{path}&format=side_by_side")]
    return json.loads(place.masked([noise, *answers]).replace(devices[0], "one").replace(devices[1], "two"))


def of_each(rest: str) -> Door:
    async def answer(place: Place) -> Any:
        return [await place.get(f"/api/config/devices/{one}/{rest}") for one in (place.core, place.lab)]

    return answer


async def backup_info(place: Place) -> Any:
    return await place.get(f"/api/devices/with-backup-info?site={place.site}")


async def snapshot(place: Place) -> Any:
    run = place.fleet.run()
    for device_id in (place.core, place.lab):
        await place.fleet.acting(run).capture_config(device_id)
    totals = ResultTotals(devices_total=2, succeeded=2, failed=0, changed=0, unchanged=2)
    made = await place.fleet.acting(run).create_snapshot("nightly", totals)
    return await place.get(f"/api/config/snapshots/{made}")


async def stream_of_events(place: Place) -> Any:
    store = place.fleet.installation.stores.configs
    feed = ConfigFeed(place.fleet.database, store)
    rows = await place.fleet.rows("configs", device_id={"$in": [place.core, place.lab]})
    return [
        event.data
        for row in sorted(rows, key=lambda row: row["device_id"] == place.lab)
        for event in feed.derive(row)
    ]


async def webhook_events(place: Place) -> Any:
    store = place.fleet.installation.stores.configs
    rows = await place.fleet.rows("configs", device_id={"$in": [place.core, place.lab]})
    rows.sort(key=lambda row: row["device_id"] == place.lab)
    owed = {"at": rows[0]["created_at"], "device_name": "x", "execution_id": None}
    return [(await _version_events(store, {**row, "owed": owed}))[0].data for row in rows]


async def observers(place: Place) -> Any:
    told = [event for event in place.fleet.told.changes if event.device_id in (place.core, place.lab)]
    return [asdict(event) for event in told]


async def captures_of_plugins(place: Place) -> Any:
    return [asdict(await place.fleet.acting().capture_config(one)) for one in (place.core, place.lab)]


async def results_of_backups(place: Place) -> Any:
    results, run = DeviceResultStore(place.fleet.database), place.fleet.run()
    work: Work = place.fleet.work()
    for name, device_id in zip(STORED, (place.core, place.lab), strict=True):
        taken = await place.fleet.acting(run).capture_config(device_id)
        result = DeviceResult(
            device_id=device_id, device_name=name, success=True, duration_ms=1, config_hash=taken.config_hash
        )
        await results.record(work, run.id, 1, result)
    found = await results.of_both(place.fleet.org_id, place.lab, [run.id])
    found |= {"core": (await results.of_both(place.fleet.org_id, place.core, [run.id]))[run.id]}
    return [asdict(result) for result in found.values()]


async def tools_of_agents(place: Place) -> Any:
    """The owner of the run may see secrets; the model that reads for him may not."""
    devices = place.fleet.parts.devices.devices
    tools = {
        tool.name: tool for tool in ConfigTools(devices=devices, configs=place.fleet.configs.service).tools()
    }
    calling = cast(Calling, _Calling(place.fleet.work()))
    answers = []
    for device_id in (place.core, place.lab):
        for name in ("list_configs", "read_config", "diff_configs"):
            arguments = {
                "device": device_id,
                "first_line": 1,
                "lines": 400,
                "old_version": 1,
                "new_version": 1,
            }
            answers.append((await tools[name].run(arguments, calling)).text)
    return answers


@dataclass(frozen=True)
class _Calling:
    work: Work


DOORS = [
    pytest.param(of_devices(""), id="the diff of two devices"),
    pytest.param(of_devices("&format=side_by_side&context=9"), id="the same in two columns"),
    pytest.param(known_to_move, id="the diff of two devices of which one has lines that move"),
    pytest.param(searched("q=community"), id="the search for a word"),
    pytest.param(searched(f"q={COMMUNITY}"), id="the search for the secret"),
    pytest.param(searched("regex=c4nary|gu3ss"), id="the search by a pattern"),
    pytest.param(searched("q=community&group=line"), id="the search for equal lines"),
    pytest.param(searched("q=hostname&context=3"), id="the lines around a match"),
    pytest.param(of_each("configs?limit=5"), id="the lists of versions"),
    pytest.param(of_each("configs/latest"), id="the newest versions"),
    pytest.param(of_each("configs/1"), id="the first versions"),
    pytest.param(of_each("diff?old_version=1&new_version=1"), id="a version and itself"),
    pytest.param(backup_info, id="the devices with their backups"),
    pytest.param(snapshot, id="a snapshot"),
    pytest.param(stream_of_events, id="the stream of events"),
    pytest.param(webhook_events, id="webhooks"),
    pytest.param(observers, id="what observers are told"),
    pytest.param(captures_of_plugins, id="what plugins are told of a capture"),
    pytest.param(results_of_backups, id="the results of a backup"),
    pytest.param(tools_of_agents, id="the tools of agents"),
]


@pytest.mark.parametrize("door", DOORS)
async def test_a_right_guess_is_answered_as_a_wrong_one(places: list[Place], door: Door) -> None:
    right, wrong, longer = [place.masked(await door(place)) for place in places]
    assert right == wrong == longer
    assert COMMUNITY not in right


async def test_who_may_see_secrets_is_answered_by_the_secrets(places: list[Place]) -> None:
    """The doors are real ones: this caller is told what they hide from others."""
    for rest in ("configs?limit=1", "configs/latest"):
        found = [
            (await place.fleet.api.get(f"/api/config/devices/{place.lab}/{rest}")).expect()
            for place in places
        ]
        items = [answer.get("configs", [answer])[0] for answer in found]
        assert len({item["config_hash"] for item in items}) == 3
        assert items[0]["size"] == items[1]["size"] == items[2]["size"] - len(LONGER) + len(WRONG)


async def test_an_answer_that_differs_by_the_reader_has_a_tag_of_its_own(places: list[Place]) -> None:
    place = places[0]
    path = f"/api/devices/with-backup-info?site={place.site}"
    mine, theirs = await place.reader.get(path), await place.fleet.api.get(path)
    assert mine.headers["ETag"] != theirs.headers["ETag"]
    for tag, status in ((theirs.headers["ETag"], 200), (mine.headers["ETag"], 304)):
        assert (await place.reader.get(path, headers={"If-None-Match": tag})).status == status
