"""Which credential a login uses, and when there is none."""

from typing import Any

import pytest

from netautod.credentials.models import CredentialNotAllowed, CredentialUnusable, NoCredential
from tests.devices.inventory import ABSENT_ID, Inventory

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
    found = await inventory.services.credentials.login_for(
        inventory.org_id, host="core-1", override=ids[override], device_default=ids[device_default]
    )
    assert (found.id, found.type, found.username) == (ids[used], "ssh_password", "netops")
    assert (found.secret, found.passphrase, found.enable_secret) == (f"secret of {used}", None, None)
    assert "secret of" not in repr(found)


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
        await inventory.services.credentials.login_for(
            inventory.org_id, host="core-1", override=ids[override], device_default=ids[device_default]
        )


async def test_there_is_none(inventory: Inventory) -> None:
    login: dict[str, Any] = {"host": "core-1", "override": None, "device_default": None}
    credentials = inventory.services.credentials
    with pytest.raises(
        NoCredential, match="neither the device nor the organization has a default credential"
    ):
        await credentials.login_for(inventory.org_id, **login)
    snmp = await inventory.credential("snmp", credential_type="snmp_community", username=None)
    with pytest.raises(NoCredential, match="is not an SSH credential"):
        await credentials.login_for(inventory.org_id, **{**login, "override": snmp["id"]})
    made = await inventory.credential("ssh", is_default=True)
    assert (await credentials.login_for(inventory.org_id, **login)).id == made["id"]
    await inventory.api.delete(f"/api/credentials/{made['id']}")
    with pytest.raises(
        NoCredential, match="neither the device nor the organization has a default credential"
    ):
        await credentials.login_for(inventory.org_id, **login)


async def test_a_host_outside_of_allowed_hosts(inventory: Inventory) -> None:
    made = await inventory.credential("ssh", allowed_hosts=["192.0.2.0/24", "*.lab.example"])
    login: dict[str, Any] = {"override": made["id"], "device_default": None}
    credentials = inventory.services.credentials
    for host in ("192.0.2.9", "core.lab.example"):
        assert (await credentials.login_for(inventory.org_id, host=host, **login)).id == made["id"]
    with pytest.raises(CredentialNotAllowed, match=r"^credential not allowed for this host$"):
        await credentials.login_for(inventory.org_id, host="192.0.3.1", **login)


async def test_another_organization_s_credential_is_none(inventory: Inventory) -> None:
    made = await inventory.credential("ssh", is_default=True)
    _, stranger = inventory.served.client("*")
    for override in (made["id"], None):
        with pytest.raises(CredentialUnusable):
            await inventory.services.credentials.login_for(
                stranger.org_id, host="core-1", override=override, device_default=None
            )
