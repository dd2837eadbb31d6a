"""The device type of a platform: the table of platform slugs, and a guess by manufacturer and model.

In this order: the user's own map (`device_types`, by slug), the table, the same for the platform's parents,
the slug without its version, manufacturer and model. What remains unknown is `generic`, and the slug to put
into the user's own map stands in the device's metadata as `platform_slug`.

The table is the platforms' own: each says in its TOML by which slugs NetBox users know it; the service hands
them over with what it knows of Netmiko's and NAPALM's names, for the platforms of plugins as well.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from netautod.plugin_api import InventoryFailed

UNKNOWN = "generic"
DEVICE_TYPE = re.compile(r"[a-z0-9_]{1,64}")
MOST_REMEMBERED = 4096
# Slugs of the manufacturer, and the pattern of the model; the first that fits decides.
MODELS = (
    ("cisco", r"nexus|\bn[3579]k", "cisco_nxos"),
    ("cisco", r"\basr[- ]?9|\bncs[- ]?5|\bcrs\b|xrv", "cisco_xr"),
    ("cisco", r"\basa ?-?55|\basav", "cisco_asa"),
    ("cisco", r"catalyst|\bisr|\bws-c|\bc9[2-6]\d\d|\bc8[0235]\d\d|\basr[- ]?1|\bcsr|\bie-", "cisco_ios"),
    ("arista arista-networks", r"", "arista_eos"),
    ("juniper juniper-networks", r"^v?(ex|mx|qfx|srx|ptx|acx)", "juniper_junos"),
    ("palo-alto palo-alto-networks paloalto", r"^(pa|vm)-", "paloalto_panos"),
    ("fortinet", r"^(fortigate|fortiwifi|fg)", "fortinet"),
    ("hpe hp aruba hpe-aruba aruba-networks", r"\bcx\b|\b6[0-4]00|\b83\d\d|\b8400", "aruba_aoscx"),
    ("hpe hp aruba hpe-aruba aruba-networks", r"\b(25|26|28|29|35|38|54)\d\d", "hp_procurve"),
    ("hpe hp h3c", r"flexfabric|flexnetwork|comware", "hp_comware"),
    ("huawei", r"^(s|ce|ar|ne)-?\d", "huawei_vrp"),
    ("mikrotik", r"^(?!.*swos)", "mikrotik_routeros"),
    ("nokia alcatel-lucent", r"^7[2-9]50", "nokia_sros"),
    ("vyos", r"", "vyos"),
    ("dell dell-emc", r"^[sz][3-9]\d\d\d", "dell_os10"),
    ("extreme extreme-networks", r"^x\d\d\d|summit", "extreme_exos"),
    ("ubiquiti", r"edgerouter|^er-", "ubiquiti_edgeos"),
)


class DeviceTypes:
    """The table with the user's own map before it. Raises InventoryFailed for an invalid type in that."""

    def __init__(self, overrides: Mapping[str, str], *, platforms: Mapping[str, str]) -> None:
        for slug, device_type in overrides.items():
            if not DEVICE_TYPE.fullmatch(device_type):
                raise InventoryFailed(f"the device type of {slug[:64]} must consist of a-z, 0-9 and _")
        self._overrides = {slug_of(slug): device_type for slug, device_type in overrides.items()}
        self._table = {slug_of(slug): device_type for slug, device_type in platforms.items()}
        self._models = [
            (frozenset(makers.split()), re.compile(model), device_type)
            for makers, model, device_type in MODELS
        ]
        # A fleet has a few hundred combinations and ten thousand devices.
        self.find = lru_cache(MOST_REMEMBERED)(self._find)

    def overridden(self, *slugs: str | None) -> str | None:
        """Return what the user's own map says to the first of the slugs that it has."""
        found = (self._overrides.get(slug_of(slug)) for slug in slugs if slug is not None)
        return next((device_type for device_type in found if device_type is not None), None)

    def _find(self, slugs: Sequence[str], manufacturer: str | None, model: str | None) -> str:
        """Find the device type; it never fails. `slugs`: of the platform and its parents, the nearest first;
        of the manufacturer.
        """
        tidy = [slug_of(slug) for slug in slugs]
        for slug in tidy:
            found = self._overrides.get(slug) or self._table.get(slug)
            if found is not None:
                return found
        for slug in tidy:
            found = self._without_version(slug)
            if found is not None:
                return found
        return self._by_model(slug_of(manufacturer or ""), (model or "").casefold())

    def _without_version(self, slug: str) -> str | None:
        """Look up `debian-12` as `debian`, `cisco-ios-xe-v17-9` as `cisco-ios-xe`, but not `linux-lab` as
        `linux`.
        """
        base = re.sub(r"-v?\d.*", "", slug)
        return self._overrides.get(base) or self._table.get(base)

    def _by_model(self, manufacturer: str, model: str) -> str:
        for makers, pattern, device_type in self._models:
            if manufacturer in makers and pattern.search(model):
                return device_type
        return UNKNOWN


def slug_of(text: str) -> str:
    """Make a slug of a name as NetBox does: `Cisco IOS-XE 17.9` is `cisco-ios-xe-17-9`."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
