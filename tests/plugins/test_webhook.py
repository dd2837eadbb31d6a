"""The signed webhook: what is posted, retries, order, a dead receiver, and the stop."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import netautod_webhook
from netautod.metrics import Metrics
from netautod.observers import Observers
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    FinishedExecution,
    PluginHost,
)
from netautod.plugin_manager import OBSERVER_HOOKS, PluginManager
from netautod.plugin_services import running_services
from netautod.settings import SettingsError
from netautod.settings_reader import load
from netautod.webhook_settings import EVENTS, Webhook
from netautod_webhook.message import Message
from netautod_webhook.receiver import Receiver
from netautod_webhook.settings import WebhookSettings
from tests.support.certificates import Authority
from tests.support.listener import listening
from tests.support.webhook_receiver import WebhookReceiver, receiving

SECRET = "canary-of-the-webhook-secret"
OTHER = "another secret of 26 chars"
QUICK = {"secret": SECRET, "retry_seconds": 0.02, "timeout_seconds": 5.0}
NOON = datetime(2026, 11, 21, 12, 0, 0, 7000, tzinfo=UTC)


def ended(number: int = 0) -> FinishedExecution:
    return FinishedExecution(
        id=f"e{number}",
        org_id="o",
        task_id="t",
        task_name="nightly",
        task_type="backup",
        state="completed",
        error_message=None,
        recovered=True,
    )


CHANGED = ConfigChanged(
    org_id="o",
    device_id="d",
    device_name="Küche",
    version=2,
    previous_version=1,
    config_hash="h",
    execution_id=None,
)
STALE = BackupStale(org_id="o", device_id="d", device_name="sw1", last_success_at=NOON, hours=48.0)
SUSPENDED = CredentialSuspended(
    org_id="o",
    device_id="d",
    device_name="sw1",
    credential_id="c",
    credential_name="default",
    failures=3,
    until=NOON,
)


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as made:
        yield made


@asynccontextmanager
async def posting(*urls: str, allow: str = "127.0.0.1", **changes: Any) -> AsyncIterator[Observers]:
    """The plugin as the service runs it, with these settings of the section."""
    section = asdict(Webhook(urls=urls, **{**QUICK, **changes}))
    host = PluginHost(
        section=lambda name: {"webhook": section}[name],
        http=GuardedClient(AddressRules.allowing([allow])),
        instance_name="lab",
    )
    manager = PluginManager(required=["webhook"])
    manager.register(netautod_webhook, "webhook")
    async with running_services(manager, host), Observers(manager, Metrics()) as observers:
        yield observers


def ids(receiver: WebhookReceiver) -> list[str]:
    return [delivery.content["data"]["id"] for delivery in receiver.received]


@pytest.mark.parametrize(
    ("event", "tell", "data"),
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
async def test_what_is_posted(receiver: WebhookReceiver, event: str, tell: Any, data: Any) -> None:
    async with posting(receiver.url) as observers:
        tell(observers)
        [delivery] = await receiver.until(1)
    content = delivery.content
    assert (content["event"], content["instance"], content["data"]) == (event, "lab", data)
    assert list(content) == ["id", "event", "at", "instance", "data"]
    told_at = datetime.fromisoformat(content["at"])
    assert abs((datetime.now(UTC) - told_at).total_seconds()) < 20
    headers = delivery.headers
    assert (headers["X-Netautod-Event"], headers["X-Netautod-Delivery"]) == (event, content["id"])
    assert headers["Content-Type"] == "application/json"
    assert abs(time.time() - int(headers["X-Netautod-Timestamp"])) < 20
    assert delivery.is_signed_with(SECRET)
    assert not delivery.is_signed_with(OTHER)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((500, {}), id="500"),
        pytest.param((503, {"Retry-After": "0"}), id="503"),
        pytest.param((429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), id="429 with a past date"),
    ],
)
async def test_a_failed_try_is_repeated_with_the_same_id_before_the_next_event(
    receiver: WebhookReceiver, answer: tuple[int, dict[str, str]]
) -> None:
    receiver.answers = [answer, answer]
    async with posting(receiver.url) as observers:
        for number in range(3):
            observers.execution_finished(ended(number))
        received = await receiver.until(5)
    assert ids(receiver) == ["e0", "e0", "e0", "e1", "e2"]
    assert len({delivery.headers["X-Netautod-Delivery"] for delivery in received}) == 3
    assert len({delivery.body for delivery in received[:3]}) == 1
    assert all(delivery.is_signed_with(SECRET) for delivery in received)


@pytest.mark.parametrize(
    "status",
    [
        *(pytest.param(status, id=f"{status}") for status in (400, 401, 404, 410)),
        pytest.param(302, id="a redirect"),
    ],
)
async def test_a_refusal_is_final(
    receiver: WebhookReceiver, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [(status, {"Location": "/elsewhere"} if status == 302 else {})]
    async with posting(f"{receiver.url}/token-in-the-path") as observers:
        observers.execution_finished(ended(0))
        observers.execution_finished(ended(1))
        await receiver.until(2)
    assert ids(receiver) == ["e0", "e1"]
    assert "is not delivered to http://127.0.0.1:" in caplog.text
    ours = " ".join(record.getMessage() for record in caplog.records if record.name != "tornado.access")
    assert "token-in-the-path" not in ours
    assert SECRET not in ours


async def test_after_the_last_try_the_next_event_has_its_turn(
    receiver: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = [(500, {})] * 3
    with caplog.at_level(logging.INFO):
        async with posting(receiver.url, tries=3) as observers:
            observers.execution_finished(ended(0))
            observers.execution_finished(ended(1))
            await receiver.until(4)
    assert ids(receiver) == ["e0", "e0", "e0", "e1"]
    lines = [text for text in caplog.messages if "it answered 500" in text]
    assert ["again in" in line for line in lines] == [True, True, False]


async def test_retry_after_is_waited_for(receiver: WebhookReceiver) -> None:
    receiver.answers = [(429, {"Retry-After": "1"})]
    async with posting(receiver.url) as observers:
        observers.execution_finished(ended())
        await receiver.until(1)
        first = time.monotonic()
        await receiver.until(2)
    assert time.monotonic() - first > 0.9


async def test_a_receiver_that_comes_back_gets_what_was_told_meanwhile(receiver: WebhookReceiver) -> None:
    """A connection that is closed without an answer, then a server on the same port."""
    answered = b"HTTP/1.1 204 No Content\r\n\r\n"
    connections = 0

    def behave(connection: Any) -> None:
        nonlocal connections
        connections += 1
        if connections > 2:
            connection.recv(65536)
            connection.sendall(answered)

    with listening(behave) as listener:
        async with posting(listener.url.replace("ldap", "http")) as observers:
            observers.execution_finished(ended())
            async with asyncio.timeout(10):
                while connections < 3:  # noqa: ASYNC110  # no event crosses the thread
                    await asyncio.sleep(0.01)


async def test_a_dead_receiver_delays_no_other(receiver: WebhookReceiver) -> None:
    async with receiving() as dead:
        dead.free.clear()
        async with posting(dead.url, receiver.url, drain_seconds=0.05) as observers:
            for number in range(50):
                observers.execution_finished(ended(number))
            await receiver.until(50)
            assert ids(dead) == ["e0"]
    assert ids(receiver) == [f"e{number}" for number in range(50)]


async def test_a_full_queue_drops_the_newest_and_says_how_many(
    receiver: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.free.clear()
    settings = WebhookSettings(urls=(receiver.url,), secret=SECRET, events=(), queue=2)
    posted = Receiver(receiver.url, settings, GuardedClient(AddressRules.allowing(["127.0.0.1"])))
    messages = [Message.of("execution_finished", ended(number), instance="lab") for number in range(8)]
    posted.start()
    posted.offer(messages[0])
    await receiver.until(1)
    for message in messages[1:7]:
        posted.offer(message)
    receiver.free.set()
    await receiver.until(3)
    posted.offer(messages[7])
    await posted.stop(10)
    assert ids(receiver) == ["e0", "e1", "e2", "e7"]
    origin = receiver.url.removesuffix("/hook")
    assert caplog.messages == [
        f"2 events wait for {origin}: it misses events",
        f"{origin} has missed 4 events",
    ]


async def test_the_stop_delivers_what_waits(receiver: WebhookReceiver) -> None:
    receiver.answers = [(500, {})]
    async with posting(receiver.url) as observers:
        for number in range(20):
            observers.execution_finished(ended(number))
    assert ids(receiver) == ["e0", *(f"e{number}" for number in range(20))]


async def test_the_stop_does_not_wait_for_ever(
    receiver: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.free.clear()
    async with posting(receiver.url, drain_seconds=0.1) as observers:
        for number in range(3):
            observers.execution_finished(ended(number))
        await receiver.until(1)
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 3
    assert "3 events are lost at the stop" in caplog.text


async def test_only_the_events_that_are_asked_for(receiver: WebhookReceiver) -> None:
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


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        pytest.param({"urls": ["ftp://x"]}, "webhook.urls: The URL must begin with", id="another protocol"),
        pytest.param({"urls": ["https://u:p@x/"]}, "webhook.urls", id="a password in the address"),
        pytest.param({"urls": ["https://x/", "https://x/"]}, "webhook.urls", id="a URL twice"),
        pytest.param({"secret": "short"}, "webhook.secret", id="a short secret"),
        pytest.param({"secret": ""}, "webhook.secret", id="no secret"),
        pytest.param({"events": ["reboot"]}, "webhook.events: 'reboot'", id="an unknown event"),
    ],
)
def test_what_the_settings_refuse(tmp_path: Path, changes: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _loaded(tmp_path, {"urls": ["https://x/"], "secret": SECRET, **changes})
    assert caught.value.text.startswith(named)
    assert SECRET not in caught.value.text


def test_every_event_of_the_service_can_be_posted() -> None:
    assert tuple(hook.removeprefix("netautod_") for hook in OBSERVER_HOOKS) == EVENTS
    assert Webhook().events == EVENTS


def test_good_settings_hide_the_secret_and_the_paths(tmp_path: Path) -> None:
    settings = _loaded(tmp_path, {"urls": ["https://x/token"], "secret": SECRET})
    assert SECRET not in repr(settings)
    assert "token" not in repr(settings.webhook)
    assert _loaded(tmp_path, {"events": ["config_changed"]}).webhook.urls == ()


def _loaded(folder: Path, values: dict[str, Any]) -> Any:
    file = folder / "netautod.toml"
    file.write_text("\n".join(["[webhook]", *(f"{name} = {value!r}" for name, value in values.items())]))
    return load(file=file, environment={}, flags={}, warn=lambda text: None)
