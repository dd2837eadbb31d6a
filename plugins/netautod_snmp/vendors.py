"""The vendor of a device, by its enterprise number."""

CISCO = 9

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


def enterprise_of(object_id: str | None) -> int | None:
    """Return the enterprise number of a sysObjectID."""
    parts = (object_id or "").removeprefix(".").split(".")
    return (
        int(parts[6])
        if parts[:6] == ["1", "3", "6", "1", "4", "1"] and parts[6:7] and parts[6].isdecimal()
        else None
    )
