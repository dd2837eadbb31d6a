"""Events of plugins: registered, checked, and handed to the publishers."""

from collections.abc import Mapping
from typing import Any, Protocol

from netautod.core.errors import Unavailable
from netautod.core.json import values as json_values
from netautod.core.schema.bases import sentence
from netautod.plugin_api import EventType

MOST_BYTES = 64 * 1024


class Publisher(Protocol):
    """A publisher that stores events, and delivers them to listeners and webhooks of the organization."""

    async def publish(
        self, *, org_id: str, name: str, data: Mapping[str, Any], permission: str | None
    ) -> None: ...


class PluginEvents:
    """The events of plugins. `types` are the registered events by their full names, `PLUGIN.NAME`."""

    def __init__(self) -> None:
        self.types: Mapping[str, EventType] = {}
        self._publishers: tuple[Publisher, ...] = ()

    def publish_to(self, *publishers: Publisher) -> None:
        """Set the publishers that get events from here on, one after the other."""
        self._publishers = publishers

    async def publish(self, plugin: str, name: str, data: Mapping[str, Any], *, org_id: str) -> None:
        """Publish an event. Raises ValueError for one of another plugin, or for data that its schema refuses
        or that are too large.

        Raises Unavailable where there is no service, or from a publisher: some may have got it then.
        """
        if not self._publishers:
            raise Unavailable("Events are published by the running service only")
        whole = f"{plugin}.{name}"
        kind = self.types.get(whole)
        if kind is None:
            raise ValueError(f"the plugin {plugin} has registered no event {name}")
        complaints = kind.schema().validate(data)
        if complaints:
            raise ValueError(f"the event {whole}: {sentence(complaints)}")
        try:
            size = len(json_values.encode(data))
        except TypeError as error:
            raise ValueError(f"the event {whole}: {error}") from error
        if size > MOST_BYTES:
            raise ValueError(f"the event {whole}: larger than {MOST_BYTES // 1024} KiB as JSON")
        for publisher in self._publishers:
            await publisher.publish(org_id=org_id, name=whole, data=data, permission=kind.permission)
