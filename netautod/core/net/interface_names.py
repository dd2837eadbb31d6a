"""Interface names in the vendor's long form."""

import re
from functools import lru_cache

MOST_REMEMBERED = 100_000
# Short forms begin with a capital letter; `eth0`, `ge-0/0/0` and `mgmt0` are whole names.
_SHORT = re.compile(r"(?P<kind>[A-Z][A-Za-z]+)-?(?P<number>\d.*)")
# What netutils lacks or has otherwise than the vendor: Cisco; Huawei; H3C.
_KINDS = {
    "Vl": "Vlan",
    "Vlan": "Vlan",
    "XGE": "XGigabitEthernet",
    "BAGG": "Bridge-Aggregation",
    "RAGG": "Route-Aggregation",
    "Vlanif": "Vlanif",
    "MEth": "MEth",
}


@lru_cache(maxsize=MOST_REMEMBERED)
def long_name(name: str) -> str:
    """Return `GigabitEthernet0/1` for `Gi0/1`, `Ethernet1` for `Et1`; another name as it is."""
    bare = name.strip()
    match = _SHORT.fullmatch(bare)
    if match is None:
        return bare
    kind = _KINDS.get(match["kind"])
    return _by_netutils(bare) if kind is None else f"{kind}{match['number']}"


def _by_netutils(name: str) -> str:
    # It brings 3 MB of tables, of protocols above all, to processes that may never meet a name.
    from netutils.interface import canonical_interface_name

    return canonical_interface_name(name)
