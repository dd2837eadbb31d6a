"""The device of a test: a simulated device is added to the inventory of a service under test."""

from dataclasses import dataclass

from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.services.client import ServiceClient


@dataclass(frozen=True, kw_only=True)
class DeviceUnderTest:
    """A device under test. `id` is that in the inventory; `simulated` the device itself: its `config`,
    `responses`, `commands`.
    """

    id: str
    name: str
    simulated: SimulatedDevice


def added_device(client: ServiceClient, simulated: SimulatedDevice) -> DeviceUnderTest:
    """Add the device, which must have been started; a user who adds it with a credential vouches for it."""
    credential = {
        "name": simulated.hostname,
        "credential_type": "ssh_password",
        "username": simulated.username,
        "secret": simulated.password,
    }
    made = client.post("/api/credentials", credential)
    assert made.status == 201, made.json
    device = {
        "name": simulated.hostname,
        "host": simulated.host,
        "port": simulated.port,
        "device_type": simulated.platform,
        "default_credential_id": made.json["id"],
    }
    added = client.post("/api/devices", device)
    assert added.status == 201, added.json
    return DeviceUnderTest(id=added.json["id"], name=simulated.hostname, simulated=simulated)
