"""Which vendor and platform a device is of: by its enterprise number and what it says of itself."""

import re
from dataclasses import dataclass

# https://www.iana.org/assignments/enterprise-numbers, by the number in sysObjectID.
VENDORS = {
    9: "Cisco",
    11: "HP",
    43: "3Com",
    45: "Nortel",
    171: "D-Link",
    207: "Allied Telesis",
    248: "Hirschmann",
    259: "Edgecore",
    318: "APC",
    343: "Intel",
    388: "Symbol",
    664: "Adtran",
    674: "Dell",
    800: "Alcatel-Lucent",
    890: "Zyxel",
    1588: "Brocade",
    1751: "Lucent",
    1916: "Extreme",
    1991: "Brocade",
    2011: "Huawei",
    2272: "Nortel",
    2352: "Redback",
    2356: "Lancom",
    2620: "Check Point",
    2636: "Juniper",
    3224: "Juniper",
    3375: "F5",
    3417: "Blue Coat",
    3902: "ZTE",
    4413: "Broadcom",
    4526: "Netgear",
    4881: "Ruijie",
    5624: "Enterasys",
    5651: "Maipu",
    6027: "Dell",
    6141: "Ciena",
    6296: "Dasan",
    6486: "Alcatel-Lucent",
    6527: "Nokia",
    6876: "VMware",
    8691: "Moxa",
    8744: "Colubris",
    8886: "Raisecom",
    9694: "Arbor",
    10002: "Ubiquiti",
    11863: "TP-Link",
    12356: "Fortinet",
    14179: "Airespace",
    14501: "Blue Coat",
    14525: "Trapeze",
    14823: "Aruba",
    14988: "MikroTik",
    17163: "Riverbed",
    22610: "A10",
    25053: "Ruckus",
    25461: "Palo Alto Networks",
    25506: "H3C",
    26866: "Gigamon",
    30065: "Arista",
    30803: "VyOS",
    33049: "Mellanox",
    35098: "Pica8",
    35265: "Eltex",
    37447: "Fibrolan",
    40310: "Cumulus",
    41112: "Ubiquiti",
    44641: "VyOS",
    47196: "HPE Aruba",
    52642: "FS",
}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A platform: its vendors by enterprise number, what its sysDescr holds, and where the version is."""

    device_type: str
    vendors: frozenset[int]
    descr: re.Pattern[str]
    version: re.Pattern[str] | None = None
    model: re.Pattern[str] | None = None


def _kind(device_type: str, vendors: set[int], descr: str, version: str = "", model: str = "") -> Kind:
    return Kind(
        device_type=device_type,
        vendors=frozenset(vendors),
        descr=re.compile(descr, re.IGNORECASE),
        version=re.compile(version) if version else None,
        model=re.compile(model) if model else None,
    )


CISCO_VERSION = r"Version ([^,\s]+)"
# The first one that fits counts.
KINDS = (
    _kind("cisco_xr", {9}, r"IOS[ -]XR", r"Version (\S+?)(?:\[|,|\s|$)"),
    _kind("cisco_nxos", {9}, r"NX-OS", CISCO_VERSION),
    _kind("cisco_asa", {9}, r"Adaptive Security Appliance", CISCO_VERSION),
    _kind("cisco_wlc", {9, 14179}, r"Cisco Controller"),
    _kind("cisco_ios", {9}, r"\bIOS\b", CISCO_VERSION),
    _kind("cisco_s300", {9}, r"Managed Switch|SG\d|SF\d|CBS\d"),
    _kind("arista_eos", {30065}, r"", r"EOS version (\S+)", r"running on an? Arista Networks (\S+)"),
    _kind("juniper_junos", {2636}, r"", r"JUNOS ([^\s,]+)", r"Inc\. (\S+)"),
    _kind("juniper_screenos", {3224}, r"", r"version (\S+)"),
    _kind(
        "aruba_aoscx",
        {47196},
        r"",
        r"\b([A-Z]{2}\.\d\d\.\d\d\.\d+)",
        r"(?:Aruba|HPE ANW|HPE Aruba Networking) (?:\w+ )?(\d{4}\w*)",
    ),
    _kind(
        "hp_procurve",
        {11},
        r"ProCurve|revision [A-Z]{1,2}\.\d|HP Stack",
        r"revision ([A-Z]{1,2}\.[\w.]+)",
        r"(J[A-Z0-9]\d{3}A)",
    ),
    _kind("aruba_os", {14823}, r"", r"Version ([\d.]+)", r"MODEL: (?:Aruba)?(\S+?)[,)]"),
    _kind(
        "hp_comware",
        {25506, 11, 43},
        r"Comware|H3C|HPE? V\d",
        r"Software,? Version ([^,\r\n]+?)(?:,? Release|\r|\n|$)",
    ),
    _kind(
        "huawei_vrp",
        {2011},
        r"",
        r"VRP(?: \(R\))? software,?\s*[Vv]ersion\s+([^\s(]+)",
        r"\b((?:S|CE|AR|NE|USG)\d{3,5}[\w-]*)",
    ),
    _kind("mikrotik_routeros", {14988}, r"", r"RouterOS\s+v?([\d.]+\w*)", r"RouterOS (\S+)"),
    _kind("fortinet", {12356}, r"", r"v(\d+\.\d+\.\d+)"),
    _kind("paloalto_panos", {25461}, r""),
    _kind("extreme_exos", {1916}, r"ExtremeXOS", r"version (\S+)", r"\((\S+?)\)"),
    _kind("extreme_vsp", {1916, 2272}, r"VOSS|VSP"),
    _kind("ruckus_fastiron", {1991}, r"", r"IronWare Version ([^\s]+)"),
    _kind("brocade_fos", {1588}, r""),
    _kind("dell_os10", {674}, r"OS10", r"OS Version: (\S+)"),
    _kind("dell_os9", {6027}, r"", r"Version: (\S+)"),
    _kind("dell_os6", {674}, r"", r"(\d+\.\d+\.\d+\.\d+)"),
    _kind("nokia_sros", {6527}, r"TiMOS", r"TiMOS-\w-(\S+)"),
    _kind("allied_telesis_awplus", {207}, r"AlliedWare Plus", r"Plus (?:\(TM\) )?(\S+)"),
    _kind("vyos", {30803, 44641}, r"", r"VyOS (\S+)"),
    _kind("zyxel_os", {890}, r""),
    _kind("f5_tmsh", {3375}, r""),
    _kind("checkpoint_gaia", {2620}, r""),
    _kind("a10", {22610}, r""),
    _kind("cumulus", {40310}, r""),
    _kind("mellanox_mlnxos", {33049}, r""),
    _kind("eltex", {35265}, r""),
    _kind("raisecom_roap", {8886}, r""),
    _kind("ruijie_os", {4881}, r""),
    _kind("fs_os", {52642}, r""),
    _kind("tplink_jetstream", {11863}, r""),
    _kind("netgear_prosafe", {4526}, r""),
    _kind("ubiquiti_edgeos", {10002, 41112}, r"EdgeOS", r"v(\d[\w.]*)"),
    _kind("linux", {8072}, r"^Linux", r"^Linux \S+ (\S+)"),
)


def enterprise_of(object_id: str | None) -> int | None:
    """The enterprise number of a sysObjectID."""
    parts = (object_id or "").removeprefix(".").split(".")
    return (
        int(parts[6])
        if parts[:6] == ["1", "3", "6", "1", "4", "1"] and parts[6:7] and parts[6].isdecimal()
        else None
    )


def kind_of(enterprise: int | None, descr: str) -> Kind | None:
    return next((kind for kind in KINDS if enterprise in kind.vendors and kind.descr.search(descr)), None)
