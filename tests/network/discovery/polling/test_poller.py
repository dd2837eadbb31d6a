"""Which devices are polled when, by whom, and what is left of polls that did not end by themselves."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.core.work.context import Work
from netautod.network.devices.models import Device
from netautod.network.devices.polls.store import DUE, FAILURES
from netautod.network.discovery.polling.poll_run import LATE, MISTAKE
from netautod.network.discovery.polling.poller import LOST_TWICE
from netautod.network.discovery.polling.schedule import DEFAULT_INTERVAL, next_due
from netautod.network.discovery.visits.service import Visited
from tests.network.discovery.polling.nodes import GOOD, SILENT, Node, Polled


async def test_a_device_that_is_due_is_polled_once_and_has_its_next_time(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    await node.look()
    await node.look()
    (poll,) = await polled.polls(device_id)
    assert (poll.state, poll.method, poll.triggered_by) == ("completed", "snmp", "schedule")
    assert node.findings.kept == [(device_id, "completed")]
    document = await polled.document(device_id)
    assert document[DUE] == next_due(device_id, DEFAULT_INTERVAL, after=polled.clock.now())
    assert await polled.database.collection("leases").find({}) == []


async def test_a_device_without_a_time_is_given_one_and_polled_then(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.device()
    await node.look()
    due_at = (await polled.document(device_id))[DUE]
    assert due_at == next_due(device_id, DEFAULT_INTERVAL, after=polled.clock.now())
    assert node.visitor.visited == []
    polled.clock.move((due_at - polled.clock.now()).total_seconds())
    await node.look()
    assert node.visitor.visited == [device_id]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"poll_interval_minutes": 1}, id="its interval"),
        pytest.param({"host": "192.0.2.77"}, id="its address"),
        pytest.param({"port": 2222}, id="its port"),
        pytest.param({"automation_transport": "eapi"}, id="its transport"),
    ],
)
async def test_an_edit_of_what_polls_depend_on_ends_the_wait(polled: Polled, change: dict[str, Any]) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    node.visitor.gives = SILENT
    await node.look()
    assert (await polled.document(device_id))[FAILURES] == 1
    (await polled.inventory.api.put(f"/api/devices/{device_id}", change)).expect(200)
    await node.look()
    document = await polled.document(device_id)
    interval = timedelta(minutes=change.get("poll_interval_minutes", 15))
    assert document[DUE] == next_due(device_id, interval, after=polled.clock.now())
    assert document[FAILURES] == 0


async def test_other_edits_leave_the_time(polled: Polled) -> None:
    device_id = await polled.due_device()
    before = (await polled.document(device_id))[DUE]
    (await polled.inventory.api.put(f"/api/devices/{device_id}", {"description": "x"})).expect(200)
    assert (await polled.document(device_id))[DUE] == before


async def test_a_device_that_does_not_answer_is_polled_later_and_later(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    node.visitor.gives = SILENT
    waits: list[int] = []
    for _ in range(8):
        await polled.make_due(device_id)
        await node.look()
        due_at = (await polled.document(device_id))[DUE]
        assert due_at == next_due(
            device_id, DEFAULT_INTERVAL, after=polled.clock.now(), failures=len(waits) + 1
        )
        waits.append((due_at - polled.clock.now()) // DEFAULT_INTERVAL + 1)
    assert waits == [2, 4, 8, 16, 24, 24, 24, 24]
    assert counted(node) == {"started": 8, "failed": 8, "finished": 0}
    node.visitor.gives = GOOD
    await polled.make_due(device_id)
    await node.look()
    document = await polled.document(device_id)
    assert (document[FAILURES], document[DUE]) == (
        0,
        next_due(device_id, DEFAULT_INTERVAL, after=polled.clock.now()),
    )
    assert counted(node) == {"started": 9, "failed": 8, "finished": 1}


def counted(node: Node) -> dict[str, int]:
    names = ("polls_started", "polls_failed", "polls_finished")
    return {name.removeprefix("polls_"): node.metrics.value(name) for name in names}


async def test_two_nodes_poll_each_device_once(polled: Polled) -> None:
    nodes = [await polled.node(), await polled.node()]
    devices = [await polled.due_device(f"sw{number}") for number in range(12)]
    asked = [await polled.ask(device_id) for device_id in devices[:3]]
    await asyncio.gather(*(node.look() for node in nodes))
    for node in nodes:  # what was asked for while a poll ran
        await node.look()
    visited = sorted(nodes[0].visitor.visited + nodes[1].visitor.visited)
    polls = [poll for device_id in devices for poll in await polled.polls(device_id)]
    assert visited == sorted(poll.device_id for poll in polls)
    assert {poll.state for poll in polls} == {"completed"}
    assert {poll.id for poll in asked} <= {poll.id for poll in polls}
    assert sorted({poll.device_id for poll in polls}) == sorted(devices)
    counts = [len(await polled.polls(device_id)) for device_id in devices[3:]]
    assert counts == [1] * 9


async def test_no_more_at_a_time_than_there_are_places_and_what_is_asked_for_first(polled: Polled) -> None:
    node = await polled.node(concurrency=2)
    due = [await polled.due_device(f"due{number}") for number in range(3)]
    asked = [await polled.device(f"asked{number}") for number in range(3)]
    for device_id in asked:
        await polled.ask(device_id)
        polled.clock.move(1)
    for _ in range(4):
        await node.look()
    assert node.visitor.at_once == 2
    assert set(node.visitor.visited[:2]) == set(asked[:2])
    assert asked[2] in node.visitor.visited[2:4]
    assert sorted(node.visitor.visited) == sorted(asked + due)


async def test_a_poll_that_runs_keeps_its_device_from_a_second_one(polled: Polled) -> None:
    nodes, device_id = [await polled.node(), await polled.node()], await polled.due_device()
    inside, out = asyncio.Event(), asyncio.Event()

    async def wait(_: Work, __: Device) -> Visited:
        inside.set()
        await out.wait()
        return GOOD

    nodes[0].visitor.gives = wait
    await nodes[0].poller.look()
    await inside.wait()
    asked = await polled.ask(device_id)
    await polled.make_due(device_id)
    for node in nodes:
        await node.poller.look()
    await nodes[1].poller.idle()
    await nodes[1].take_up()
    assert nodes[1].visitor.visited == []
    out.set()
    await nodes[0].poller.idle()
    await nodes[1].look()
    assert nodes[1].visitor.visited == [device_id]
    assert asked.id in {poll.id for poll in await polled.polls(device_id) if poll.state == "completed"}


async def test_the_poll_of_a_lost_node_is_taken_up_once(polled: Polled) -> None:
    lost, others = await polled.node(), [await polled.node(), await polled.node()]
    device_id = await polled.due_device()
    inside = asyncio.Event()

    async def die(_: Work, __: Device) -> Visited:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError

    lost.visitor.gives = die
    await lost.poller.look()
    await inside.wait()
    await others[0].take_up()
    assert others[0].visitor.visited == []  # its lease is kept
    await polled.lose_leases()
    await asyncio.gather(*(other.take_up() for other in others))
    (poll,) = await polled.polls(device_id)
    assert (poll.state, poll.attempt) == ("completed", 2)
    assert sorted(others[0].visitor.visited + others[1].visitor.visited) == [device_id]
    assert sum(other.metrics.value("polls_taken_over") for other in others) == 1


async def test_what_a_lost_node_ends_later_changes_nothing(polled: Polled) -> None:
    lost, other, device_id = await polled.node(), await polled.node(), await polled.due_device()
    inside, out = asyncio.Event(), asyncio.Event()

    async def sleep_on(_: Work, __: Device) -> Visited:
        inside.set()
        await out.wait()
        return SILENT

    lost.visitor.gives = sleep_on
    await lost.poller.look()
    await inside.wait()
    await polled.lose_leases()
    await other.take_up()
    out.set()
    await lost.poller.idle()
    (poll,) = await polled.polls(device_id)
    assert poll.state == "completed"
    assert (await polled.document(device_id))[FAILURES] == 0


async def test_a_poll_whose_nodes_are_lost_twice_is_over(polled: Polled) -> None:
    device_id = await polled.due_device()
    poll = await polled.ask(device_id)
    lost = {"$set": {"state": "running", "attempt": 2, "started_at": polled.clock.now()}}
    await polled.database.collection("polls").update({"_id": poll.id}, lost)
    node = await polled.node()
    await node.take_up()
    (ended,) = await polled.polls(device_id)
    assert (ended.state, ended.error) == ("failed", LOST_TWICE)
    assert (await polled.document(device_id))[FAILURES] == 1
    assert (node.visitor.visited, counted(node)) == ([], {"started": 0, "failed": 1, "finished": 0})


async def test_the_polls_of_a_node_that_stops_are_taken_up_and_did_not_begin(polled: Polled) -> None:
    node, other, device_id = await polled.node(), await polled.node(), await polled.due_device()
    inside = asyncio.Event()

    async def wait(_: Work, __: Device) -> Visited:
        inside.set()
        await asyncio.Event().wait()
        raise AssertionError

    node.visitor.gives = wait
    async with node.poller:
        await inside.wait()
        await node.poller.drain(0)
        assert node.metrics.value("polls_running") == 1
    await other.take_up()
    (poll,) = await polled.polls(device_id)
    assert (poll.state, poll.attempt) == ("completed", 1)
    assert other.visitor.visited == [device_id]


async def test_a_node_that_drains_begins_nothing(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    await node.poller.drain(0)
    await polled.ask(device_id)
    await node.look()
    await node.take_up()
    assert node.visitor.visited == []


async def test_a_visit_that_does_not_end_is_left_behind(polled: Polled) -> None:
    node, device_id = await polled.node(seconds=0.01, grace_seconds=0.01), await polled.due_device()
    out = asyncio.Event()

    async def ignore(_: Work, __: Device) -> Visited:
        while not out.is_set():
            try:
                await out.wait()
            except asyncio.CancelledError:
                continue
        return GOOD

    node.visitor.gives = ignore
    await node.look()
    (poll,) = await polled.polls(device_id)
    assert (poll.state, poll.error) == ("failed", LATE)
    assert node.metrics.value("polls_abandoned") == 1
    assert node.metrics.value("polls_running") == 0
    node.visitor.gives = GOOD
    await polled.make_due(device_id)
    await node.look()
    assert node.findings.kept == [(device_id, "failed"), (device_id, "completed")]
    out.set()


@pytest.mark.parametrize("where", ["visit", "keep"])
async def test_a_mistake_of_ours_ends_the_poll(
    polled: Polled, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    node, device_id = await polled.node(), await polled.due_device()

    async def fail(_: Work, __: Device) -> Visited:
        raise ZeroDivisionError

    if where == "visit":
        node.visitor.gives = fail
    else:
        node.findings.raises = ZeroDivisionError()
    await node.look()
    (poll,) = await polled.polls(device_id)
    assert (poll.state, poll.error) == ("failed", MISTAKE)
    assert "ZeroDivisionError" in caplog.text
    assert (await polled.document(device_id))[FAILURES] == 1


async def test_a_poll_that_could_not_be_kept_for_want_of_the_database_is_taken_up(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    node.findings.raises = Unavailable("away")
    await node.look()
    assert [poll.state for poll in await polled.polls(device_id)] == ["running"]
    node.findings.raises = None
    await node.take_up()
    assert [poll.state for poll in await polled.polls(device_id)] == ["completed"]


async def test_no_poll_begins_for_an_organization_that_is_paused(polled: Polled) -> None:
    node, due, asked = await polled.node(), await polled.due_device("due"), await polled.device("asked")
    untimed = await polled.device("untimed")
    await polled.ask(asked)
    left = await polled.ask(due)
    change = {"$set": {"state": "running", "attempt": 1, "started_at": polled.clock.now()}}
    await polled.database.collection("polls").update({"_id": left.id}, change)
    polled.pauses.organizations.add(polled.org_id)
    await node.look()
    await node.take_up()
    assert node.visitor.visited == []
    assert DUE not in await polled.document(untimed)
    polled.pauses.organizations.clear()
    await node.take_up()
    await node.look()
    assert sorted(set(node.visitor.visited)) == sorted([due, asked])


@pytest.mark.parametrize("how", ["deleted", "disabled"])
async def test_a_device_that_is_not_to_be_polled_any_more_is_not(polled: Polled, how: str) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    if how == "deleted":
        await polled.inventory.api.delete(f"/api/devices/{device_id}")
    else:
        (await polled.inventory.api.put(f"/api/devices/{device_id}", {"poll_enabled": False})).expect(200)
    await node.look()
    polled.clock.move(86_400)
    await node.look()
    assert (node.visitor.visited, await polled.polls(device_id)) == ([], [])


@pytest.mark.parametrize("when", ["before", "during"])
async def test_nothing_is_kept_of_a_device_that_is_deleted_meanwhile(polled: Polled, when: str) -> None:
    node, device_id = await polled.node(), await polled.due_device()

    async def delete(_: Work, __: Device) -> Visited:
        await polled.inventory.api.delete(f"/api/devices/{device_id}")
        await polled.inventory.installation.stores.polls.forget_device(polled.org_id, device_id)
        return GOOD

    if when == "before":
        await polled.ask(device_id)
        await polled.inventory.api.delete(f"/api/devices/{device_id}")
    node.visitor.gives = delete
    await node.look()
    assert node.findings.forgotten == [device_id]
    assert await polled.polls(device_id) == []


async def test_a_disabled_device_is_polled_when_somebody_asks(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.device(poll_enabled=False)
    await polled.ask(device_id)
    await node.look()
    assert [poll.state for poll in await polled.polls(device_id)] == ["completed"]
    assert DUE not in await polled.document(device_id)


async def test_whoever_asks_twice_has_one_poll_that_detects_if_one_of_them_does(polled: Polled) -> None:
    device_id = await polled.device()
    first = await polled.ask(device_id)
    second = await polled.ask(device_id, detect=True)
    third = await polled.ask(device_id)
    assert first.id == second.id == third.id
    assert [poll.detect for poll in await polled.polls(device_id)] == [True]


async def test_the_history_is_bounded_and_newest_first(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.device()
    node.poller.polls._keep = 3
    ids = []
    for _ in range(5):
        polled.clock.move(1)
        ids.append((await polled.ask(device_id)).id)
        await node.look()
    assert [poll.id for poll in await polled.polls(device_id)] == ids[:1:-1]


async def test_devices_are_polled_in_the_name_of_the_poller_and_each_use_is_told_once_a_day(
    polled: Polled,
) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    for move in (0, 3600, 86_400):
        polled.clock.move(move)
        await polled.make_due(device_id)
        await node.look()
        told = node.visitor.audited[-1]
        assert told is not None
        told.add("a credential")
    first, second, third = node.visitor.audited
    assert first is second
    assert third is not first
    await polled.ask(device_id)
    await node.look()
    assert node.visitor.audited[-1] == set()
    assert set(node.visitor.callers) == {"poller"}
    assert [details.get("requested_by") for details in node.visitor.details] == [None, None, None, "ada"]


async def test_the_loop_polls_at_once_what_is_asked_for(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.device()
    done = asyncio.Event()

    async def tell(_: Work, __: Device) -> Visited:
        done.set()
        return GOOD

    node.visitor.gives = tell
    node.poller.scan_seconds = 3600
    async with node.poller:
        await asyncio.sleep(0)
        await polled.ask(device_id)
        node.poller.kick()
        await done.wait()
        await node.poller.idle()
    assert [poll.state for poll in await polled.polls(device_id)] == ["completed"]


async def test_a_device_that_another_node_polled_since_the_look_is_not_polled_again(polled: Polled) -> None:
    node, other, device_id = await polled.node(), await polled.node(), await polled.due_device()
    (seen,) = await node.poller.due.due(polled.clock.now(), without=(), limit=9)
    await other.look()
    node.poller._begin(seen.id, node.poller._due(seen))
    await node.poller.idle()
    assert node.visitor.visited == []
    assert len(await polled.polls(device_id)) == 1


async def test_a_lost_node_does_not_end_the_poll_that_another_one_runs(polled: Polled) -> None:
    nodes, device_id = [await polled.node(), await polled.node()], await polled.due_device()
    inside, out = [asyncio.Event(), asyncio.Event()], [asyncio.Event(), asyncio.Event()]

    def gives(number: int, visited: Visited) -> None:
        async def visit(_: Work, __: Device) -> Visited:
            inside[number].set()
            await out[number].wait()
            return visited

        nodes[number].visitor.gives = visit

    gives(0, SILENT)
    gives(1, GOOD)
    await nodes[0].poller.look()
    await inside[0].wait()
    await polled.lose_leases()
    await nodes[1].poller.take_up()
    await inside[1].wait()
    out[0].set()
    await nodes[0].poller.idle()
    assert [poll.state for poll in await polled.polls(device_id)] == ["running"]
    out[1].set()
    await nodes[1].poller.idle()
    assert [poll.state for poll in await polled.polls(device_id)] == ["completed"]


async def test_a_poll_of_the_old_address_says_nothing_about_the_new_one(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()

    async def move(_: Work, __: Device) -> Visited:
        (await polled.inventory.api.put(f"/api/devices/{device_id}", {"host": "192.0.2.9"})).expect(200)
        return SILENT

    node.visitor.gives = move
    await node.look()
    document = await polled.document(device_id)
    assert (document[DUE], document[FAILURES]) == (None, 0)


async def test_nothing_is_kept_when_the_lease_may_be_another_node_s(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()

    async def be_paused(_: Work, __: Device) -> Visited:
        polled.clock.move(1000)  # without a heartbeat
        return GOOD

    node.visitor.gives = be_paused
    await node.look()
    assert node.findings.kept == []
    assert [poll.state for poll in await polled.polls(device_id)] == ["running"]


async def test_a_visit_ends_when_the_lease_is_lost(polled: Polled) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    inside, ended = asyncio.Event(), asyncio.Event()

    async def wait(_: Work, __: Device) -> Visited:
        inside.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    node.visitor.gives = wait
    await node.poller.look()
    await inside.wait()
    taken = {"$set": {"owner": "another"}}
    await polled.database.collection("leases").update({"_id": f"poll:{device_id}"}, taken)
    await node.leases._keeper.renew()
    await node.poller.idle()
    assert ended.is_set()
    assert [(poll.state, poll.attempt) for poll in await polled.polls(device_id)] == [("running", 1)]
