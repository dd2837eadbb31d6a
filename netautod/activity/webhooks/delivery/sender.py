"""Sends one signed request to a receiver and returns its result."""

import math

from netautod.activity.webhooks.models import SendResult, Webhook
from netautod.activity.webhooks.secrets import WebhookSecrets
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.core.clock import Clock
from netautod.core.work.guard import Guard
from netautod.secrets.vault.errors import VaultError
from netautod.transport.outbound.client import GuardedClient, OutboundRequest
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.outbound.retries import asked_pause
from netautod.transport.outbound.signed import SignedMessage

MOST_ERROR_CHARACTERS = 500


class Sender:
    """A sender of requests.

    `instance_name` is the origin that every message names.
    """

    def __init__(
        self,
        *,
        http: GuardedClient,
        secrets: WebhookSecrets,
        clock: Clock,
        settings: WebhooksSettings,
        instance_name: str,
    ) -> None:
        self.instance_name = instance_name
        self._http = http
        self._secrets = secrets
        self._clock = clock
        self._settings = settings

    async def send(
        self, webhook: Webhook, message: SignedMessage, *, guard: Guard, most_seconds: float = math.inf
    ) -> SendResult:
        """Send one request, which has the time of the settings, and `most_seconds` at most.

        Raises only what `guard` raises, which is called just before the request leaves.
        """
        try:
            secret = await self._secrets.open(webhook)
        except VaultError:
            return SendResult(response_status=None, error="the webhook's secret cannot be opened")
        now = self._clock.now()
        request = OutboundRequest(
            url=webhook.url,
            method="POST",
            headers=message.headers(secret, now=now.timestamp()),
            body=message.body,
            reads_body=False,
            timeout_seconds=min(self._settings.timeout_seconds, most_seconds),
        )
        try:
            answer = await self._http.under(guard).fetch(request)
        except (AddressRefused, RequestFailed) as error:
            return SendResult(response_status=None, error=error.text[:MOST_ERROR_CHARACTERS])
        if 200 <= answer.status < 300:
            return SendResult(response_status=answer.status, error=None)
        return SendResult(
            response_status=answer.status,
            error=f"the receiver answered {answer.status}",
            retry_after_seconds=asked_pause(
                answer.headers, self._clock.now(), longest=self._settings.longest_retry_seconds
            ),
        )
