"""POST /poll and the history, over HTTP."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from netautod.network.discovery.polling.outcome import outcome_of
from netautod.network.discovery.visits.service import Visited
from netautod.plugin_api import TABLES, Collected
from netautod.store.client import Database
from tests.network.devices.inventory import DEVICE, created
from tests.network.discovery.polling.nodes import FakePauses
from tests.network.discovery.served import discovery_of
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.installation import Installation, open_installation
from tests.support.serving import Serve


@dataclass(kw_only=True)
class Api:
    """`kicked` counts how often the poller was woken."""

    served: ServedRoutes
    installation: Installation
    pauses: FakePauses
    api: ApiClient
    kicked: list[None] = field(default_factory=list)

    async def device(self, name: str = "sw1") -> Any:
        return await created(self.api, "/api/devices", {**DEVICE, "name": name})


@pytest.fixture
async def open_api(indexed: Database, serve: Serve, tmp_path: Path) -> Callable[..., Any]:
    async def opened(*, most: int = 1000) -> Api:
        installation = await open_installation(indexed, tmp_path)
        devices, pauses, kicked = installation.devices().devices, FakePauses(), list[None]()
        discovery = discovery_of(
            installation, devices, kick=lambda: kicked.append(None), pauses=pauses, most=most
        )
        served = await serve(devices, discovery)
        return Api(
            served=served,
            installation=installation,
            pauses=pauses,
            api=served.client("*")[0],
            kicked=kicked,
        )

    return opened


async def test_a_poll_is_queued_audited_and_wakes_the_poller(open_api: Callable[..., Any]) -> None:
    api = await open_api()
    device = await api.device()
    answer = await api.api.post(f"/api/devices/{device['id']}/poll", {"detect": True})
    assert answer.status == 202
    poll_id = answer.json["poll_id"]
    assert answer.json == {"poll_id": poll_id, "device_id": device["id"], "state": "queued"}
    assert len(api.kicked) == 1
    (found,) = (await api.api.get(f"/api/devices/{device['id']}/poll-history")).json["polls"]
    assert found == {
        "id": poll_id,
        "device_id": device["id"],
        "state": "queued",
        "method": None,
        "sources": dict.fromkeys(TABLES),
        "triggered_by": "manual",
        "error": None,
        "counts": {},
        "started_at": None,
        "completed_at": None,
        "duration_ms": None,
    }
    events = await api.installation.database.collection("audit_events").find({"action": "device.poll"})
    assert [event["details"] for event in events] == [{"poll_id": poll_id, "detect": True}]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param({"detect": "yes"}, "detect", id="no boolean"),
        pytest.param({"detect": 1}, "detect", id="a number"),
        pytest.param([], "object", id="no object"),
    ],
)
async def test_a_body_that_is_none_is_a_400(open_api: Callable[..., Any], body: Any, text: str) -> None:
    api = await open_api()
    device = await api.device()
    assert_error(await api.api.post(f"/api/devices/{device['id']}/poll", body), 400, text)


async def test_a_body_is_not_needed(open_api: Callable[..., Any]) -> None:
    api = await open_api()
    device = await api.device()
    assert (await api.api.post(f"/api/devices/{device['id']}/poll")).status == 202


async def test_a_full_queue_is_a_503_until_there_is_room(open_api: Callable[..., Any]) -> None:
    api = await open_api(most=2)
    devices = [await api.device(f"sw{number}") for number in range(3)]
    for device in devices[:2]:
        assert (await api.api.post(f"/api/devices/{device['id']}/poll")).status == 202
    refused = await api.api.post(f"/api/devices/{devices[2]['id']}/poll")
    assert_error(refused, 503, "The queue of polls is full")
    assert "Retry-After" in refused.headers
    polls = api.installation.stores.polls
    (first, _) = await polls.queued(without=(), limit=9)
    await polls.begin(first, at=api.installation.clock.now())
    assert (await api.api.post(f"/api/devices/{devices[2]['id']}/poll")).status == 202


async def test_a_pause_of_the_organization_is_a_503(open_api: Callable[..., Any]) -> None:
    api = await open_api()
    device = await api.device()
    api.pauses.organizations.add(device["org_id"])
    assert_error(await api.api.post(f"/api/devices/{device['id']}/poll"), 503, "paused")
    assert api.kicked == []


@pytest.mark.parametrize(
    ("permission", "status"),
    [pytest.param("devices.access", 202, id="may"), pytest.param("tasks.operate", 403, id="may not")],
)
async def test_who_may_ask_for_a_poll(open_api: Callable[..., Any], permission: str, status: int) -> None:
    api = await open_api()
    device = await api.device()
    client = api.served.client(permission, org_id=device["org_id"])[0]
    assert (await client.post(f"/api/devices/{device['id']}/poll")).status == status


async def test_the_history_tells_what_came_of_it(open_api: Callable[..., Any]) -> None:
    api = await open_api()
    device = await api.device()
    polls, clock = api.installation.stores.polls, api.installation.clock
    for _ in range(3):
        await api.api.post(f"/api/devices/{device['id']}/poll")
        (queued,) = await polls.queued(without=(), limit=9)
        begun = await polls.begin(queued, at=clock.now())
        assert begun is not None
        visited = Visited(collected=Collected(mac=(), problems={"arp": "cut"}), sources={"mac": "tr069"})
        assert await polls.end(begun, outcome_of(visited), at=clock.now())
    answer = (await api.api.get(f"/api/devices/{device['id']}/poll-history?limit=2")).json
    assert (len(answer["polls"]), answer["total"], answer["limit"]) == (2, 3, 2)
    newest = answer["polls"][0]
    assert newest["id"] == begun.id
    assert (newest["state"], newest["method"], newest["error"]) == ("partial", "tr069", "arp: cut")
    assert newest["sources"] == {**dict.fromkeys(TABLES), "mac": "tr069"}
    assert newest["counts"] == {"mac": 0}
    assert newest["duration_ms"] >= 0
