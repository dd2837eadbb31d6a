"""What tests of pages put into the database beside what the API takes."""

from datetime import datetime, timedelta
from typing import Any

from netautod.core.clock import SystemClock
from netautod.core.work.context import Work
from netautod.network.discovery.tables.models import PollNote
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.plugin_api import Collected
from tests.console.site import Site


async def device(on: Site, name: str, **fields: Any) -> str:
    body = {"name": name, "host": "192.0.2.1", "device_type": "cisco_ios", **fields}
    return str((await on.api().post("/api/devices", body)).expect(201)["id"])


async def noted(site: Site, device_id: str, *, kind: str | None, ago: timedelta = timedelta()) -> None:
    """A capture of the device has ended so; `kind` None: well."""
    await site.installation.stores.backup_states.record(
        Work(caller=site.admin),
        device_id,
        at=SystemClock().now() - ago,
        error=None if kind is None else f"it failed: {kind}",
        kind=kind,
    )


async def polled(
    site: Site, device_id: str, found: Collected, *, at: datetime | None = None, **note: Any
) -> None:
    """A poll has found that."""
    store = DiscoveredStore(site.installation.database, gone_for=timedelta(days=1))
    said = {"state": "completed", "error": None, "reachable": True, "latency_ms": 1.5, **note}
    moment = at or SystemClock().now()
    await store.replace(site.admin.org_id, device_id, found, sources={}, note=PollNote(at=moment, **said))
