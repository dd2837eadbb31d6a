"""The times of polls when the database's clock was set back."""

from datetime import timedelta

import pytest

from netautod.network.devices.polls.store import DUE, DuePolls
from tests.network.discovery.polling.nodes import Polled


@pytest.mark.parametrize(
    ("interval", "ahead", "kept"),
    [
        pytest.param(None, 14, True, id="within the interval of all"),
        pytest.param(None, 16, False, id="further ahead than that"),
        pytest.param(60, 59, True, id="within its own interval"),
        pytest.param(60, 61, False, id="further ahead than its own"),
    ],
)
async def test_a_device_waits_no_longer_than_its_interval(
    polled: Polled, interval: int | None, ahead: int, kept: bool
) -> None:
    node, device_id = await polled.node(), await polled.due_device()
    due_at = await polled.database.now() + timedelta(minutes=ahead)
    devices = polled.database.collection("devices")
    await devices.update({"_id": device_id}, {"$set": {DUE: due_at, "poll_interval_minutes": interval}})
    await DuePolls(polled.database).align()
    assert (await polled.document(device_id))[DUE] == (due_at if kept else None)
    await node.look()
    assert (await polled.document(device_id))[DUE] <= due_at
