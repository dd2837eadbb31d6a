"""The filters of the source `netbox`: what they match, what is refused, and what is silently ignored."""

from typing import Any

import pytest

from netautod.plugin_api import InventoryFailed
from tests.plugins.netbox.support import netbox, source_of, walk
from tests.support.servers.netbox import NetBoxReplay

__all__ = ["netbox"]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        pytest.param({"sites": ["berlin-dc1"]}, 16, id="a site"),
        pytest.param({"statuses": ["active"]}, 39, id="a status"),
        pytest.param({"roles": ["router"]}, 20, id="a role"),
        pytest.param({"platforms": ["cisco-ios-xe"]}, 15, id="a platform with the one below it"),
        pytest.param({"tags": ["prod"]}, 30, id="a tag"),
        pytest.param({"tags": ["prod", "automation-managed"]}, 30, id="both tags"),
        pytest.param({"tags": ["prod", "lab"]}, 0, id="two tags that nobody has together"),
        pytest.param({"manufacturers": ["cisco"]}, 25, id="a manufacturer"),
        pytest.param({"tenants": ["acme"]}, 15, id="a tenant"),
        pytest.param(
            {"statuses": ["active", "planned"], "sites": ["berlin-dc1", "paris-branch"]}, 21, id="two of each"
        ),
        pytest.param({"name": "acc-ber-00"}, 2, id="a name that two devices have"),
        pytest.param({"name": "nobody"}, 0, id="a name that nobody has"),
    ],
)
async def test_filters_match_as_the_recorded_netbox_says(
    netbox: NetBoxReplay, filters: dict[str, Any], count: int
) -> None:
    source = source_of(netbox, filters=filters)
    probed = await source.probe()
    assert probed is not None
    assert probed.device_count == count
    assert len((await walk(source)).ids) == count


@pytest.mark.parametrize(
    ("filters", "refusal"),
    [
        pytest.param({"sites": ["nope"]}, "site: Select a valid choice. nope is not one of", id="a site"),
        pytest.param({"statuses": ["banana"]}, "status: Select a valid choice. banana is not", id="a status"),
        pytest.param({"tags": ["prod", "nope"]}, "tag: Select a valid choice. nope is not", id="a tag"),
        pytest.param({"bananas": ["1"]}, "the filter bananas is not known", id="no filter at all"),
    ],
)
async def test_filter_values_that_do_not_exist(
    netbox: NetBoxReplay, filters: dict[str, Any], refusal: str
) -> None:
    source = source_of(netbox, filters=filters)
    with pytest.raises(InventoryFailed, match=refusal):
        await source.probe()
    with pytest.raises(InventoryFailed, match=refusal):
        await walk(source)


@pytest.mark.parametrize(
    "filters",
    [
        pytest.param({"sites": ["berlin-dc1"]}, id="sites"),
        pytest.param({"statuses": ["active"]}, id="statuses"),
        pytest.param({"roles": ["router"]}, id="roles"),
        pytest.param({"platforms": ["arista-eos"]}, id="platforms"),
        pytest.param({"tags": ["prod"]}, id="tags"),
        pytest.param({"manufacturers": ["juniper"]}, id="manufacturers"),
        pytest.param({"tenants": ["acme"]}, id="tenants"),
        pytest.param({"name": "acc-ber-08"}, id="name"),
    ],
)
async def test_a_filter_that_is_silently_ignored_brings_no_devices(
    netbox: NetBoxReplay, filters: dict[str, Any]
) -> None:
    netbox.ignores_filters = True
    with pytest.raises(InventoryFailed, match=f"it ignores the filter {next(iter(filters))}"):
        await walk(source_of(netbox, filters=filters))


async def test_a_role_below_the_wanted_one_is_no_ignored_filter(netbox: NetBoxReplay) -> None:
    row = netbox.rows[0]
    below = {**row["role"], "slug": "access-switch-48", "_depth": 1}
    netbox.rows = [{**row, "role": below}]
    netbox.ignores_filters = True
    assert len((await walk(source_of(netbox, filters={"roles": ["access-switch"]}))).devices) == 1
