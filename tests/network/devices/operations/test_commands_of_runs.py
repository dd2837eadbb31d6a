"""Commands that the executor of a run sends, as the owner of its task."""

import pytest

from netautod.assembly.acting.caller_services import COMMAND
from netautod.core.errors import Forbidden
from netautod.core.work.guard import LeaseLostError
from netautod.plugin_api import CommandOutcome
from netautod.testing import Faults
from netautod.transport.outbound.client import OutboundRequest
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID


async def test_a_command_of_a_run(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated(responses={"show clock": "06:44:12 UTC\n"}))
    ran = await fleet.acting(permission=COMMAND).run_command(device_id, "show clock")
    assert ran == CommandOutcome(
        success=True, output="06:44:12 UTC", error=None, error_kind=None, duration_ms=ran.duration_ms
    )
    (event,) = await fleet.audited("device.exec_command")
    assert event["actor_name"] == "owner"
    assert set(event["details"]) >= {"execution_id", "command", "outcome"}


async def test_a_device_that_refuses_is_an_outcome_and_is_then_left_alone(fleet: Fleet) -> None:
    switch = fleet.simulated(faults=Faults(refuse_logins=True))
    device_id = await fleet.device(switch)
    kinds = [
        (await fleet.acting(permission=COMMAND).run_command(device_id, "show clock")).error_kind
        for _ in range(2)
    ]
    assert kinds == ["auth", "suspended"]
    assert len(switch.login_attempts) == 1
    gone = await fleet.acting(permission=COMMAND).run_command(ABSENT_ID, "show clock")
    assert (gone.error_kind, gone.error) == ("not_found", "Device not found")


async def test_what_does_not_come_to_a_login(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    with pytest.raises(Forbidden):
        await fleet.acting().run_command(device_id, "show clock")
    with pytest.raises(ValueError, match="one line"):
        await fleet.acting(permission=COMMAND).run_command(device_id, "show clock\nreload")

    def lost() -> None:
        raise LeaseLostError("the run is somebody else's")

    with pytest.raises(LeaseLostError):
        await fleet.acting(permission=COMMAND, guard=lost).run_command(device_id, "show clock")
    assert switch.login_attempts == []
    with pytest.raises(LeaseLostError):
        await fleet.acting(permission=COMMAND, guard=lost).http.fetch(
            OutboundRequest(url="http://127.0.0.1/")
        )
