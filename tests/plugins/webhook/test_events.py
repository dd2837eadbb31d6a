"""The signed webhook: what is posted, and to whom."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.plugins.events import CHANGED, STALE, SUSPENDED, changed, ended
from tests.plugins.webhook.conftest import OTHER, SECRET, ids, posting
from tests.support.servers.certificates import Authority
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving


@pytest.mark.parametrize(
    ("event", "notify", "data"),
    [
        pytest.param(
            "execution_finished",
            lambda observers: observers.execution_finished(ended(7)),
            {
                "id": "e7",
                "org_id": "o",
                "task_id": "t",
                "task_name": "nightly",
                "task_type": "backup",
                "state": "completed",
                "error_message": None,
                "recovered": True,
            },
            id="the end of an execution",
        ),
        pytest.param(
            "config_changed",
            lambda observers: observers.config_changed(CHANGED),
            {
                "org_id": "o",
                "device_id": "d",
                "device_name": "Küche",
                "version": 2,
                "previous_version": 1,
                "config_hash": "h",
                "execution_id": None,
            },
            id="a changed config",
        ),
        pytest.param(
            "backup_stale",
            lambda observers: observers.backup_stale(STALE),
            {
                "org_id": "o",
                "device_id": "d",
                "device_name": "sw1",
                "last_success_at": "2026-11-21T12:00:00.007Z",
                "hours": 48.0,
            },
            id="a stale backup",
        ),
        pytest.param(
            "credential_suspended",
            lambda observers: observers.credential_suspended(SUSPENDED),
            {
                "org_id": "o",
                "device_id": "d",
                "device_name": "sw1",
                "credential_id": "c",
                "credential_name": "default",
                "failures": 3,
                "until": "2026-11-21T12:00:00.007Z",
            },
            id="a suspended credential",
        ),
    ],
)
async def test_what_is_posted(receiver: WebhookReceiver, event: str, notify: Any, data: Any) -> None:
    async with posting(receiver.url) as observers:
        notify(observers)
        [delivery] = await receiver.until(1)
    content = delivery.content
    assert (content["event"], content["instance"], content["data"]) == (event, "lab", data)
    assert list(content) == ["id", "event", "at", "instance", "data"]
    posted_at = datetime.fromisoformat(content["at"])
    assert abs((datetime.now(UTC) - posted_at).total_seconds()) < 20
    headers = delivery.headers
    assert (headers["X-Netautod-Event"], headers["X-Netautod-Delivery"]) == (event, content["id"])
    assert headers["Content-Type"] == "application/json"
    assert abs(time.time() - int(headers["X-Netautod-Timestamp"])) < 20
    assert delivery.is_signed_with(SECRET)
    assert not delivery.is_signed_with(OTHER)


@pytest.mark.parametrize("kind", ["neighbor_lost", "device_unreachable", "device_reachable"])
async def test_a_change_of_a_device_is_posted_by_its_kind_and_under_its_own_id(
    receiver: WebhookReceiver, kind: str
) -> None:
    async with posting(receiver.url) as observers:
        for kind_of_event in (kind, "interface_down", kind):
            observers.device_changed(changed(kind_of_event))
        deliveries = await receiver.until(2)
    assert [delivery.content["event"] for delivery in deliveries] == [kind, kind]
    assert {delivery.headers["X-Netautod-Delivery"] for delivery in deliveries} == {"event-1"}
    assert deliveries[0].content["data"] == {
        "id": "event-1",
        "org_id": "o",
        "device_id": "d",
        "device_name": "sw1",
        "kind": kind,
        "at": "2026-11-21T12:00:00.007Z",
        "interface": "Ethernet1",
        "neighbor_name": None,
        "neighbor_chassis_id": None,
    }


async def test_only_the_events_that_are_configured(receiver: WebhookReceiver) -> None:
    async with posting(receiver.url, events=("config_changed",)) as observers:
        observers.execution_finished(ended())
        observers.config_changed(CHANGED)
    assert [delivery.content["event"] for delivery in receiver.received] == ["config_changed"]


async def test_local_addresses_must_be_allowed(
    receiver: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    async with posting(receiver.url, allow="192.0.2.1") as observers:
        observers.execution_finished(ended())
    assert receiver.received == []
    assert "is not delivered" in caplog.text


async def test_a_receiver_with_a_certificate_of_a_private_authority(
    authority: Authority, foreign: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    async with receiving(certificate=authority.server("receiver")) as receiver:
        async with posting(receiver.url, ca_file=str(foreign.file), tries=2) as observers:
            observers.execution_finished(ended(0))
        assert receiver.received == []
        assert "The certificate of https://127.0.0.1" in caplog.text
        async with posting(receiver.url, ca_file=str(authority.file)) as observers:
            observers.execution_finished(ended(1))
    assert ids(receiver) == ["e1"]


async def test_without_urls_nothing_observes() -> None:
    async with posting() as observers:
        assert not observers.wanted("netautod_execution_finished")
