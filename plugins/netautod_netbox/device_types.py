"""Which device type a platform is: the table of platform slugs, and a guess by manufacturer and model.

In this order: the user's own map (`device_types`, by slug), the table, the same for the platform's parents,
the slug without its version, manufacturer and model. What remains unknown is `generic`, and the slug to put
into the user's own map stands in the device's metadata as `platform_slug`.

The slugs are those of NetBox users: the platform's name in lower case with dashes, with and without the
manufacturer, and the driver names of NAPALM and Netmiko (napalm-automation.net, netmiko/ssh_dispatcher.py).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from netautod.plugin_api import InventoryFailed

UNKNOWN = "generic"
DEVICE_TYPE = re.compile(r"[a-z0-9_]{1,64}")
MOST_REMEMBERED = 4096
PLATFORMS = {
    "cisco_ios": "ios cisco-ios ios-xe iosxe cisco-ios-xe cisco-iosxe cisco-xe",
    "cisco_nxos": "nxos nx-os nxos-ssh cisco-nxos cisco-nx-os",
    "cisco_xr": "iosxr ios-xr cisco-xr cisco-iosxr cisco-ios-xr",
    "cisco_asa": "asa asa-os cisco-asa cisco-asa-os",
    "arista_eos": "eos arista-eos",
    "juniper_junos": "junos junos-os juniper-junos juniper-junos-os junos-evolved juniper-junos-evolved",
    "paloalto_panos": "panos pan-os paloalto-panos paloalto-pan-os palo-alto-panos palo-alto-pan-os",
    "fortinet": "fortinet fortios fortinet-fortios fortigate fortinet-fortigate",
    "hp_procurve": "procurve hp-procurve hpe-procurve aruba-os-switch arubaos-switch arubaos-s aos-s",
    "aruba_aoscx": "aoscx aos-cx aruba-aoscx aruba-aos-cx arubaos-cx aruba-os-cx hpe-aruba-aos-cx",
    "hp_comware": "comware hp-comware hpe-comware h3c-comware",
    "huawei_vrp": "vrp huawei-vrp huawei",
    "mikrotik_routeros": "ros routeros mikrotik-routeros mikrotik",
    "nokia_sros": "sros sr-os timos nokia-sros nokia-sr-os alcatel-sros",
    "vyos": "vyos",
    "frr": "frr frrouting",
    "dell_os10": "os10 dell-os10 dell-emc-os10 dell-smartfabric-os10",
    "extreme_exos": "exos extreme-exos extremexos extreme-xos",
    "ubiquiti_edgeos": "edgeos ubiquiti-edgeos edgerouter ubiquiti-edgerouter",
    "linux": (
        "linux debian ubuntu centos rhel red-hat-enterprise-linux rocky-linux almalinux fedora opensuse"
        " suse-linux alpine-linux debian-linux ubuntu-linux debian-gnu-linux cumulus-linux sonic"
    ),
    UNKNOWN: "generic",
}
# Slugs of the manufacturer, and what the model looks like; the first that fits decides.
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
    """The table with the user's own map before it. Raises InventoryFailed for an invalid type in it."""

    def __init__(self, overrides: Mapping[str, str]) -> None:
        for slug, device_type in overrides.items():
            if not DEVICE_TYPE.fullmatch(device_type):
                raise InventoryFailed(f"the device type of {slug[:64]} must consist of a-z, 0-9 and _")
        self._overrides = {slug_of(slug): device_type for slug, device_type in overrides.items()}
        self._table = {
            slug: device_type
            for device_type, slugs in PLATFORMS.items()
            for slug in (slug_of(device_type), *slugs.split())
        }
        self._models = [
            (frozenset(makers.split()), re.compile(model), device_type)
            for makers, model, device_type in MODELS
        ]
        # A fleet has a few hundred combinations and ten thousand devices.
        self.find = lru_cache(MOST_REMEMBERED)(self._find)

    def overridden(self, *slugs: str | None) -> str | None:
        """What the user's own map says to the first of the slugs that it has."""
        found = (self._overrides.get(slug_of(slug)) for slug in slugs if slug is not None)
        return next((device_type for device_type in found if device_type is not None), None)

    def _find(self, slugs: Sequence[str], manufacturer: str | None, model: str | None) -> str:
        """`slugs`: of the platform and its parents, the nearest first; of the manufacturer. Never fails."""
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
        """`debian-12` as `debian`, `cisco-ios-xe-v17-9` as `cisco-ios-xe`, but not `linux-lab` as `linux`."""
        base = re.sub(r"-v?\d.*", "", slug)
        return self._overrides.get(base) or self._table.get(base)

    def _by_model(self, manufacturer: str, model: str) -> str:
        for makers, pattern, device_type in self._models:
            if manufacturer in makers and pattern.search(model):
                return device_type
        return UNKNOWN


def slug_of(text: str) -> str:
    """As NetBox makes slugs of names: `Cisco IOS-XE 17.9` is `cisco-ios-xe-17-9`."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
