"""What a look costs the database when nothing is due: the index says so, and no device is looked at."""

from netautod.network.devices.polls.store import DUE
from tests.network.discovery.polling.nodes import Polled
from tests.support.profiler import profiled


async def test_a_look_with_nothing_due_looks_at_no_device(polled: Polled, mongo_uri: str) -> None:
    node = await polled.node()
    for number in range(30):
        await polled.device(f"sw{number}")
    await polled.device("off", poll_enabled=False)
    await node.look()
    with profiled(polled.database, mongo_uri) as profile:
        await node.look()
        await node.take_up()
        sent = profile.take()
    looked = {entry["ns"].partition(".")[2]: entry.get("docsExamined", 0) for entry in sent}
    assert looked == {"devices": 0, "polls": 0}
    assert not [entry for entry in sent if "COLLSCAN" in entry["planSummary"] or entry.get("hasSortStage")]
    assert max(entry.get("keysExamined", 0) for entry in sent) <= 1


async def test_devices_of_paused_organizations_do_not_hide_the_others(polled: Polled) -> None:
    node = await polled.node(concurrency=1)
    mine = await polled.due_device()
    theirs = [
        {**(await polled.document(mine)), "_id": f"theirs{number}", "org_id": "theirs", "name": f"n{number}"}
        for number in range(5)
    ]
    earlier = polled.clock.now().replace(year=2020)
    await polled.database.collection("devices").insert_many([{**one, DUE: earlier} for one in theirs])
    polled.pauses.organizations.add(theirs[0]["org_id"])
    await node.look()
    assert node.visitor.visited == [mine]
