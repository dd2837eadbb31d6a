"""The stages of `build`: each hands to its parts what they use of the settings and the installation."""

from netautod.app.composition.stages.access import Logins, events, logins, refusals
from netautod.app.composition.stages.acting import agents, services_of_commands, shared_services
from netautod.app.composition.stages.around import documents, leases, storages, upkeep, webhooks
from netautod.app.composition.stages.devices import (
    DeviceObservers,
    DeviceWork,
    device_work,
    discovery,
    inventory,
)
from netautod.app.composition.stages.running import Runs, environment, heartbeat, runs

__all__ = [
    "DeviceObservers",
    "DeviceWork",
    "Logins",
    "Runs",
    "agents",
    "device_work",
    "discovery",
    "documents",
    "environment",
    "events",
    "heartbeat",
    "inventory",
    "leases",
    "logins",
    "refusals",
    "runs",
    "services_of_commands",
    "shared_services",
    "storages",
    "upkeep",
    "webhooks",
]
