"""The service of the plugin: receives events in the thread of observers and queues them for the receivers."""

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from netautod.plugin_api import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    DeviceChanged,
    FinishedExecution,
    PluginHost,
    SignedMessage,
    hookimpl,
)
from netautod_webhook.receiver import Receiver
from netautod_webhook.settings import WebhookSettings


class Webhook:
    """A service with a queue and a task for each URL, so that a dead one delays no other."""

    def __init__(self, host: PluginHost[WebhookSettings]) -> None:
        self._settings = host.settings
        self._instance = host.instance_name
        self._receivers = [Receiver(url, host.settings, host.http) for url in host.settings.urls]
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        for receiver in self._receivers:
            receiver.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        seconds = self._settings.drain_seconds
        await asyncio.gather(*(receiver.stop(seconds) for receiver in self._receivers))

    @hookimpl
    def netautod_execution_finished(self, execution: FinishedExecution) -> None:
        self._post("execution_finished", execution)

    @hookimpl
    def netautod_config_changed(self, event: ConfigChanged) -> None:
        self._post("config_changed", event)

    @hookimpl
    def netautod_backup_stale(self, event: BackupStale) -> None:
        self._post("backup_stale", event)

    @hookimpl
    def netautod_credential_suspended(self, event: CredentialSuspended) -> None:
        self._post("credential_suspended", event)

    @hookimpl
    def netautod_device_changed(self, event: DeviceChanged) -> None:
        self._post(event.kind, event, event_id=event.id)

    def _post(self, name: str, event: Any, *, event_id: str | None = None) -> None:
        """Queue an event for all receivers.

        It is called in the thread of the observers; the queues belong to the event loop.
        """
        assert self._loop is not None  # observers are called between __aenter__ and __aexit__
        if name in self._settings.events:
            # An event with an id of its own is the same message when it is published again.
            message = SignedMessage.of(
                name,
                asdict(event),
                id=event_id or str(uuid4()),
                at=datetime.now(UTC),
                instance=self._instance,
            )
            self._loop.call_soon_threadsafe(self._offer, message)

    def _offer(self, message: SignedMessage) -> None:
        for receiver in self._receivers:
            receiver.offer(message)
