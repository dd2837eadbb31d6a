"""What plugins tell: events that they have registered, checked, and handed to whoever keeps events."""

from collections.abc import Mapping
from typing import Any, Protocol

from netautod.core import json_values
from netautod.core.errors import Unavailable
from netautod.core.schema import sentence
from netautod.plugin_api import EventType


class Publisher(Protocol):
    """Who keeps events, and tells them to listeners and webhooks of the organization."""

    async def publish(
        self, *, org_id: str, name: str, data: Mapping[str, Any], permission: str | None
    ) -> None: ...


class PluginEvents:
    """`types` are the registered events by their full names, `PLUGIN.NAME`."""

    def __init__(self) -> None:
        self.types: Mapping[str, EventType] = {}
        self._publisher: Publisher | None = None

    def connect(self, types: Mapping[str, EventType], publisher: Publisher) -> None:
        """From here on events are told."""
        self.types = types
        self._publisher = publisher

    async def publish(self, plugin: str, name: str, data: Mapping[str, Any], *, org_id: str) -> None:
        """Raises ValueError for an event of another plugin, or for data that its schema refuses; Unavailable
        where there is no service."""
        if self._publisher is None:
            raise Unavailable("Events are told by the running service only")
        whole = f"{plugin}.{name}"
        kind = self.types.get(whole)
        if kind is None:
            raise ValueError(f"the plugin {plugin} has registered no event {name}")
        complaints = kind.schema().validate(data)
        if complaints:
            raise ValueError(f"the event {whole}: {sentence(complaints)}")
        try:
            json_values.encode(data)
        except TypeError as error:
            raise ValueError(f"the event {whole}: {error}") from error
        await self._publisher.publish(org_id=org_id, name=whole, data=data, permission=kind.permission)
