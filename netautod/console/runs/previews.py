"""The preview of a schedule before anything is saved: its next runs, and the devices that they would
visit.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from netautod.automation.tasks.service import TaskService
from netautod.console.runs.parameters import controls_of, visits_devices
from netautod.console.runs.views import Preview
from netautod.core.identity.caller import Caller
from netautod.core.pages import Page
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.service import DeviceService

RUNS = 10
DEVICES = 10  # that are named


class Previews:
    def __init__(self, *, tasks: TaskService, devices: DeviceService) -> None:
        self._tasks = tasks
        self._devices = devices

    async def of(
        self, caller: Caller, task_type: str, expression: str, zone: str, parameters: Mapping[str, Any]
    ) -> Preview:
        """Compute the preview of a schedule.

        Raises InvalidInput if the expression or the zone is invalid.
        """
        # In a thread: runs of a rare expression cost more than the loop should stand still.
        runs = await asyncio.to_thread(self._tasks.upcoming, expression, zone, RUNS)
        device_filter = parameters.get("device_filter")
        wanted = {
            name: device_filter[name]
            for name in ("site", "device_type")
            if isinstance(device_filter, Mapping) and isinstance(device_filter.get(name), str)
        }
        devices = None
        if caller.can("devices.access") and visits_devices(controls_of(self._tasks.types().get(task_type))):
            devices = await self._devices.page(caller.org_id, DeviceFilter(**wanted), Page(limit=DEVICES))
        return Preview(runs=runs, zone=zone, devices=devices, device_filter=wanted)
