"""Deliveries of the webhook: retries, order, a dead receiver, a full queue, and the stop."""

import asyncio
import logging
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.outbound.signed import SignedMessage
from netautod_webhook.receiver import Receiver
from netautod_webhook.settings import WebhookSettings
from tests.plugins.events import ended
from tests.plugins.webhook.conftest import SECRET, ids, posting
from tests.support.servers.listener import listening
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving


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


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_an_accepted_event_is_delivered_however_the_answer_is_encoded(
    receiver: WebhookReceiver, encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It says so, but is nothing of the kind."""
    receiver.answers = [(200, {"Content-Encoding": encoding})]
    async with posting(receiver.url) as observers:
        observers.execution_finished(ended(0))
        observers.execution_finished(ended(1))
        await receiver.until(2)
    assert ids(receiver) == ["e0", "e1"]
    assert "is not delivered" not in caplog.text


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


async def test_a_receiver_that_comes_back_gets_what_happened_meanwhile(receiver: WebhookReceiver) -> None:
    """Close a connection without an answer, then open a server on the same port."""
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
            async with asyncio.timeout(60):
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
    messages = [
        SignedMessage.of(
            "execution_finished", asdict(ended(number)), id=f"m{number}", at=datetime.now(UTC), instance="lab"
        )
        for number in range(8)
    ]
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
    assert "3 events are lost at the stop" in caplog.text
