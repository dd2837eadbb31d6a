"""A pull from OpenSSH's sshd with a private key: a Linux host, nobody's simulation."""

import os

import pytest

from tests.network.configs.fleet import Fleet
from tests.support.programs.sshd import PROGRAM, Sshd

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no sshd (apt package openssh-server)")


async def test_two_pulls_of_a_linux_host_are_one_version(fleet: Fleet, sshd: Sshd) -> None:
    key = await fleet.credential(
        "key", credential_type="ssh_key", username=sshd.username, secret=sshd.private_key
    )
    device_id = await fleet.entry("host", sshd.port, device_type="linux", default_credential_id=key)
    for changed in (True, False):
        response = await fleet.api.post(f"/api/config/devices/{device_id}/pull")
        assert response.status == 200, response.content
        assert (response.json["version"], response.json["changed"]) == (1, changed)
    newest = (await fleet.api.get(f"/api/config/devices/{device_id}/configs/latest")).json
    for part in (
        "### file /etc/hostname\n",
        "\nroot:x:0:0:",
        f"\n{os.uname().sysname} {os.uname().release} ",
    ):
        assert part in newest["config_text"]
    device = (await fleet.api.get(f"/api/devices/{device_id}")).json
    assert device["host_key_fingerprint"] == sshd.fingerprint
