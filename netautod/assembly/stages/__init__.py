"""The stages of `build`: each hands to its parts what they use of the settings and the installation."""

from netautod.assembly.stages.access import Logins, events, logins, refusals
from netautod.assembly.stages.acting import agents, services_of_commands, shared_services
from netautod.assembly.stages.around import documents, leases, storages, upkeep, webhooks
from netautod.assembly.stages.devices import (
    DeviceObservers,
    DeviceWork,
    device_work,
    discovery,
    inventory,
)
from netautod.assembly.stages.running import Runs, environment, heartbeat, runs

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
