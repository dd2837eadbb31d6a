"""A receiver of deliveries."""

from collections.abc import AsyncIterator

import pytest

from tests.support.servers.webhook_receiver import WebhookReceiver, receiving


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as made:
        yield made
