"""What is told of a device that fails: once, with whose work it was, and with no secret."""

import logging
from uuid import uuid4

import pytest

from netautod.core.identity.caller import Caller, OrgId
from netautod.core.metrics import Metrics
from netautod.core.work.context import Work
from netautod.network.devices.sessions.failure_log import visiting
from netautod.transport.ssh.failures import DeviceFailed


def work() -> Work:
    caller = Caller(user_id="u1", org_id=OrgId("o1"), username="owner", permissions=frozenset())
    return Work(caller=caller, execution_id="e1")


def test_a_failure_that_passes_a_session_and_a_poll_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """By the session, which is further in."""
    metrics, device = Metrics(), str(uuid4())
    caplog.set_level(logging.INFO)
    with (
        pytest.raises(DeviceFailed),
        visiting(work(), device, "snmp", metrics=metrics, tracer=None),
        visiting(work(), device, "cli", metrics=metrics, tracer=None),
    ):
        raise DeviceFailed("login refused for nat_abcdefghijklmnop", kind="auth", credential_id="c1")
    (record,) = caplog.records
    assert record.__dict__["event"] == "device_failure"
    assert record.__dict__["fields"] == {
        "device": device,
        "transport": "cli",
        "kind": "auth",
        "credential": "c1",
        "hop": None,
        "error": "login refused for <hidden>",
    }
    assert metrics.value("device_failures", "cli", "auth") == 1
    assert metrics.value("device_failures", "snmp", "auth") == 0


def test_what_ends_well_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with visiting(work(), "d1", "cli", metrics=Metrics(), tracer=None):
        pass
    assert caplog.records == []
