"""Each session is counted, however it ends."""

import asyncio
from contextlib import suppress

import pytest

from netautod.core.errors import NotFound
from netautod.core.metrics import Metrics
from netautod.testing import Faults
from netautod.transport.ssh.failures import DeviceFailed
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID


def results(metrics: Metrics) -> dict[str, object]:
    return {
        one.labels[0]: one.value for one in metrics.series() if one.name == "device_sessions" and one.value
    }


def is_open(metrics: Metrics) -> int:
    return metrics.value("device_sessions_open")


class Broken(Exception):
    """What an executor raises."""


@pytest.mark.parametrize(
    ("raised", "result"),
    [
        pytest.param(None, "ok", id="well"),
        pytest.param(DeviceFailed("nothing there", kind="refused"), "refused", id="by the device's failure"),
        pytest.param(Broken(), "error", id="by what an executor raises"),
        pytest.param(asyncio.CancelledError(), "cancelled", id="by a cancel"),
    ],
)
async def test_a_session_is_counted_by_how_it_ends(
    fleet: Fleet, raised: BaseException | None, result: str
) -> None:
    device_id, metrics = await fleet.device(fleet.simulated()), fleet.sessions.metrics
    with suppress(DeviceFailed, Broken, asyncio.CancelledError):
        async with fleet.scope().open(device_id):
            assert is_open(metrics) == 1
            if raised is not None:
                raise raised
    assert (results(metrics), is_open(metrics)) == ({result: 1}, 0)


async def test_a_session_that_lasts_longer_than_its_run_may_is_cancelled(fleet: Fleet) -> None:
    device_id, metrics = await fleet.device(fleet.simulated()), fleet.sessions.metrics

    async def stay() -> None:
        async with asyncio.timeout(None) as run, fleet.scope().open(device_id):
            run.reschedule(0)
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        await stay()
    assert (results(metrics), is_open(metrics)) == ({"cancelled": 1}, 0)


async def test_a_session_that_never_opens_is_counted_and_was_never_open(fleet: Fleet) -> None:
    switch, metrics = fleet.simulated(), fleet.sessions.metrics
    switch.faults = Faults(refuse_logins=True)
    device_id = await fleet.device(switch)
    with pytest.raises(DeviceFailed):
        async with fleet.scope().open(device_id):
            pass
    with pytest.raises(NotFound):
        async with fleet.scope().open(ABSENT_ID):
            pass
    assert (results(metrics), is_open(metrics)) == ({"auth": 1, "error": 1}, 0)
