"""Interface names are stored in the long form."""

import pytest

from netautod.core.net.interface_names import long_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Gi0/1", "GigabitEthernet0/1"),
        ("Te1/0/1", "TenGigabitEthernet1/0/1"),
        ("Et1", "Ethernet1"),
        (" Po10", "Port-channel10"),
        ("Vl10", "Vlan10"),
        ("Vlan10", "Vlan10"),
        ("XGE0/0/1", "XGigabitEthernet0/0/1"),
        ("BAGG1", "Bridge-Aggregation1"),
        ("ge-0/0/0.0", "ge-0/0/0.0"),
        ("eth0", "eth0"),
        ("lo", "lo"),
        ("mgmt0", "mgmt0"),
        ("ether1", "ether1"),
        ("A1", "A1"),
        ("1", "1"),
    ],
)
def test_long_name(name: str, expected: str) -> None:
    assert long_name(name) == expected
