"""The names of platforms in other tools: every name that means one of our platforms leads to it.

`tests/data/platform_names.csv` holds the names of Netmiko 4.8 (`CLASS_MAPPER`), NAPALM's drivers (its own and
those of napalm-automation-community), Oxidized's models, netutils (Nautobot's network drivers) and some of
LibreNMS's; `-`: a kind of device that the product does not know.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest
from netutils import lib_mapper

from netautod.transport.ssh.platform.registry import FALLBACK, PlatformRegistry

FILE = Path(__file__).parents[3] / "data" / "platform_names.csv"
NONE_OF_OURS = "-"
WAYS = ("", "_ssh", "_telnet", "_serial")
with FILE.open(newline="") as file:
    ROWS = list(csv.DictReader(file))
TOOLS = sorted({row["tool"] for row in ROWS})


@pytest.mark.parametrize("tool", TOOLS)
def test_every_name_leads_to_its_platform(platforms: PlatformRegistry, tool: str) -> None:
    """Look names up as a device_type (but for NAPALM's, which inventories say), and as the slug of an
    inventory.
    """
    wrong = []
    for row in (row for row in ROWS if row["tool"] == tool):
        name, wanted = row["name"], row["platform"]
        slug = platforms.slugs.get(name.replace("_", "-"), NONE_OF_OURS)
        typed = name.replace("-", "_")
        known = platforms.get(typed).name if platforms.knows(typed) else NONE_OF_OURS
        if slug != wanted or (tool != "napalm" and known != wanted):
            wrong.append((name, wanted, slug, known))
    assert wrong == []


@pytest.mark.parametrize("way", WAYS)
def test_a_name_of_netmiko_with_the_way_to_the_device(platforms: PlatformRegistry, way: str) -> None:
    for row in (row for row in ROWS if row["tool"] == "netmiko"):
        wanted = FALLBACK if row["platform"] == NONE_OF_OURS else row["platform"]
        name = row["name"] + way
        assert platforms.get(name).name == wanted, name
        assert platforms.slugs.get(name.replace("_", "-"), FALLBACK) == wanted, name
        if row["platform"] != NONE_OF_OURS:
            assert name in platforms.synonyms(row["platform"])


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param(lib_mapper.NETMIKO_LIB_MAPPER, id="Netmiko"),
        pytest.param(lib_mapper.MAIN_LIB_MAPPER, id="Nautobot's network drivers"),
        pytest.param(lib_mapper.NAPALM_LIB_MAPPER, id="NAPALM"),
    ],
)
def test_the_table_has_every_name_that_netutils_knows(theirs: Mapping[str, str]) -> None:
    """Fail for a new release with names for which the table has no decision."""
    assert set(theirs) - {row["name"] for row in ROWS} == set()
