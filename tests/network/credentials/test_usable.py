"""Which credential a login uses, and when there is none."""

from dataclasses import replace
from typing import Any

import asyncssh
import pytest

from netautod.network.credentials.models import (
    CredentialNotAllowed,
    CredentialUnusable,
    Destination,
    LoginSecrets,
    NoCredential,
    NotVouched,
)
from tests.network.devices.inventory import ABSENT_ID, Inventory

VOUCHED = Destination(host="core-1", vouched=True, way_vouched=True)
PLAIN_KEY = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
NAMES = ("override", "device", "organization")


async def _three(inventory: Inventory, **fields: Any) -> dict[str | None, str | None]:
    ids: dict[str | None, str | None] = {None: None, "absent": ABSENT_ID}
    for name in NAMES:
        default = {"is_default": True} if name == "organization" else {}
        made = await inventory.credential(name, secret=f"secret of {name}", **default, **fields)
        ids[name] = made["id"]
    return ids


@pytest.mark.parametrize(
    ("override", "device_default", "used"),
    [
        pytest.param("override", "device", "override", id="the override comes first"),
        pytest.param(None, "device", "device", id="then the device's"),
        pytest.param(None, None, "organization", id="then the organization's"),
    ],
)
async def test_the_order(
    inventory: Inventory, override: str | None, device_default: str | None, used: str
) -> None:
    ids = await _three(inventory)
    found = await inventory.services.credentials.usable(
        inventory.org_id, override=ids[override], device_default=ids[device_default]
    )
    assert (found.id, found.type, found.username) == (ids[used], "ssh_password", "netops")
    secrets = found.secrets_for(VOUCHED)
    assert secrets == LoginSecrets(password=f"secret of {used}")
    assert "secret of" not in repr((found, secrets))


@pytest.mark.parametrize(
    ("override", "device_default"),
    [
        pytest.param("absent", "device", id="an override that is gone is not replaced"),
        pytest.param(None, "absent", id="nor is a device's"),
    ],
)
async def test_a_named_credential_that_is_gone(
    inventory: Inventory, override: str | None, device_default: str | None
) -> None:
    ids = await _three(inventory)
    with pytest.raises(NoCredential, match="does not exist"):
        await inventory.services.credentials.usable(
            inventory.org_id, override=ids[override], device_default=ids[device_default]
        )


async def test_there_is_none(inventory: Inventory) -> None:
    login: dict[str, Any] = {"override": None, "device_default": None}
    credentials = inventory.services.credentials
    with pytest.raises(
        NoCredential, match="neither the device nor the organization has a default credential"
    ):
        await credentials.usable(inventory.org_id, **login)
    snmp = await inventory.credential("snmp", credential_type="snmp_community", username=None)
    with pytest.raises(NoCredential, match="is not an SSH credential"):
        await credentials.usable(inventory.org_id, **{**login, "override": snmp["id"]})
    made = await inventory.credential("ssh", is_default=True)
    assert (await credentials.usable(inventory.org_id, **login)).id == made["id"]
    await inventory.api.delete(f"/api/credentials/{made['id']}")
    with pytest.raises(
        NoCredential, match="neither the device nor the organization has a default credential"
    ):
        await credentials.usable(inventory.org_id, **login)


async def test_a_host_outside_of_allowed_hosts(inventory: Inventory) -> None:
    made = await inventory.credential("ssh", allowed_hosts=["192.0.2.0/24", "*.lab.example"])
    usable = inventory.services.credentials.usable
    found = await usable(inventory.org_id, override=made["id"], device_default=None)
    for host in ("192.0.2.9", "core.lab.example"):
        assert found.secrets_for(replace(VOUCHED, host=host)).password is not None
    with pytest.raises(CredentialNotAllowed, match=r"^credential not allowed for this host$"):
        found.secrets_for(replace(VOUCHED, host="192.0.3.1"))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        pytest.param({}, {"vouched": False}, id="a password, to a device that nobody has vouched for"),
        pytest.param(
            {"allowed_hosts": ["core-*"]}, {"way_vouched": False}, id="allowed hosts, behind a jump device"
        ),
        pytest.param(
            {"credential_type": "ssh_key", "secret": PLAIN_KEY, "allowed_hosts": ["core-*"]},
            {"way_vouched": False},
            id="a key with allowed hosts, behind a jump device",
        ),
    ],
)
async def test_what_is_not_vouched_for(
    inventory: Inventory, fields: dict[str, Any], place: dict[str, Any]
) -> None:
    made = await inventory.credential("ssh", **fields)
    usable = inventory.services.credentials.usable
    found = await usable(inventory.org_id, override=made["id"], device_default=None)
    with pytest.raises(NotVouched, match=r"^credential waits for approval of this device's address$"):
        found.secrets_for(replace(VOUCHED, **place))
    assert found.secrets_for(VOUCHED)


async def test_a_key_goes_anywhere_its_enable_secret_does_not(inventory: Inventory) -> None:
    made = await inventory.credential("ssh", credential_type="ssh_key", secret=PLAIN_KEY, enable_secret="en")
    usable = inventory.services.credentials.usable
    found = await usable(inventory.org_id, override=made["id"], device_default=None)
    assert found.secrets_for(Destination(host="core-1")) == LoginSecrets(
        private_key=PLAIN_KEY, enable_withheld=True
    )
    assert found.secrets_for(VOUCHED).enable_secret == "en"


async def test_another_organization_s_credential_is_none(inventory: Inventory) -> None:
    made = await inventory.credential("ssh", is_default=True)
    _, stranger = inventory.served.client("*")
    for override in (made["id"], None):
        with pytest.raises(CredentialUnusable):
            await inventory.services.credentials.usable(
                stranger.org_id, override=override, device_default=None
            )
