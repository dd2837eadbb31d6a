"""A pull from OpenSSH's sshd with a private key: a Linux host, nobody's simulation."""

import getpass
import os
import shutil

import pytest

from tests.configs.fleet import Fleet
from tests.ssh.test_sshd import Sshd, sshd  # noqa: F401  # a fixture

_SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(_SSHD is None, reason="no sshd (apt package openssh-server)")


async def test_two_pulls_of_a_linux_host_are_one_version(fleet: Fleet, sshd: Sshd) -> None:  # noqa: F811
    key = await fleet.credential(
        "key", credential_type="ssh_key", username=getpass.getuser(), secret=sshd.private_key
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
