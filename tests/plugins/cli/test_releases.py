"""Outputs that newer, older and rarer releases of a platform print otherwise: no fact of them is lost."""

from typing import Any

import pytest

from netautod_cli.collector import rows_of
from netautod_cli.unreadable import Unreadable

NX_HEAD = """\
Legend:
* - primary entry, G - Gateway MAC, (R) - Routed MAC, O - Overlay MAC
age - seconds since last seen,+ - primary entry using vPC Peer-Link,
(T) - True, (F) - False
   VLAN     MAC Address      Type      age     Secure NTFY   Ports/SWID.SSID.LID
---------+-----------------+--------+---------+------+----+------------------
"""
NX_GROUP = f"""\
{NX_HEAD}\
* 100      0200.0000.0032    dynamic   10         F    F  Po2 Eth1/1
  110      0100.5e00.0118    igmp      0          F    F  Po1
                                                          Eth142/1/1 Eth112/1/6
{NX_HEAD}\
* 17       0200.0000.0033    dynamic      -       F    F    vPC Peer-Link
"""
NX_5000 = """\
VLAN      MAC Address       Type    Age       Port
---------+-----------------+-------+---------+------------------------------
136       0200.0000.0032    dynamic 0         Po1
Unknown Key ID 0x14a00018
VLAN      MAC Address       Type    Age       Port
---------+-----------------+-------+---------+------------------------------
405       0200.0000.0033    dynamic 50        Eth1/5
Total MAC Addresses: 2
"""
ISR_HEAD = "Destination Address\tAddress Type\tVLAN\tDestination Port\n---------\t-----\t----\t---\n"
ISR = f"""\
EHWIC: 0
{ISR_HEAD}\
0200.0000.0032\t\tDynamic      \t  2   \tGigabitEthernet0/0/1

EHWIC: 1
{ISR_HEAD}\
0200.0000.0033\t\tDynamic      \t   1\tGigabitEthernet0/1/1
"""


def macs(*rows: tuple[str, int, str]) -> list[tuple[str, int, str]]:
    return [(f"02:00:00:00:00:{end}" if len(end) == 2 else end, vlan, port) for end, vlan, port in rows]


@pytest.mark.parametrize(
    ("platform", "text", "expected"),
    [
        pytest.param(
            "cisco_nxos",
            NX_GROUP,
            macs(
                ("32", 100, "Port-channel2"),
                ("32", 100, "Ethernet1/1"),
                ("01:00:5e:00:01:18", 110, "Port-channel1"),
                ("01:00:5e:00:01:18", 110, "Ethernet142/1/1"),
                ("01:00:5e:00:01:18", 110, "Ethernet112/1/6"),
                ("33", 17, "vPC Peer-Link"),
            ),
            id="NX-OS, groups with several ports",
        ),
        pytest.param(
            "cisco_nxos",
            NX_5000,
            macs(("32", 136, "Port-channel1"), ("33", 405, "Ethernet1/5")),
            id="NX-OS 4 with the age alone",
        ),
        pytest.param(
            "cisco_ios",
            ISR,
            macs(("32", 2, "GigabitEthernet0/0/1"), ("33", 1, "GigabitEthernet0/1/1")),
            id="a router with several cards",
        ),
    ],
)
def test_a_forwarding_table(platform: str, text: str, expected: list[Any]) -> None:
    rows = rows_of(platform, "show mac address-table", [text])
    assert [(row.mac_address, row.vlan_id, row.interface) for row in rows] == expected


@pytest.mark.parametrize("end", [" dynamic   10", " dynamic   10         F", " dynamic   10         F    F"])
def test_a_row_of_nxos_that_was_cut_is_none(end: str) -> None:
    with pytest.raises(Unreadable):
        rows_of("cisco_nxos", "show mac address-table", [f"{NX_HEAD}* 100      0200.0000.0032   {end}"])


AOSCX = """\
LLDP Neighbor Information
=========================

Total Neighbor Entries          : 2
--------------------------------------------------------------------------------

Port                           : 1/1/17
Neighbor Entries               : 2
Neighbor System-Name           : far-1
Neighbor System-Description    : a switch,
of two lines
Neighbor Chassis-ID            : 02:00:00:00:00:3c
Neighbor Management-Address    : 192.0.2.1
Chassis Capabilities Enabled   : Bridge
Neighbor Port-ID               : 1/1/1
Neighbor Port-Desc             : uplink

Neighbor System-Name           :
Neighbor Chassis-ID            : 02:00:00:00:00:3d
Neighbor Port-ID               : 02:00:00:00:00:3e
"""


def test_neighbors_of_aoscx_with_names_of_systems() -> None:
    rows = rows_of("aruba_aoscx", "show lldp neighbor-info detail", [AOSCX])
    assert [(row.local_interface, row.remote_system_name, row.remote_chassis_id) for row in rows] == [
        ("1/1/17", "far-1", "02:00:00:00:00:3c"),
        ("1/1/17", None, "02:00:00:00:00:3d"),
    ]
    assert rows[0].remote_platform == "a switch,"


VRP = """\
GigabitEthernet0/0/0 current state : UP
Line protocol current state : UP
Description:WAN
Route Port,The Maximum Transmit Unit is 1500
Internet Address is allocated by DHCP, 192.0.2.54/24
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 0200-0000-0001
"""
COMWARE = """\
M-GigabitEthernet0/0/0
Current state: UP
Line protocol state: UP
Description: management
Bandwidth: 1000000 kbps
Maximum transmission unit: 1500
Internet address: 192.0.2.54/24 (Primary)
IP packet frame type: Ethernet II, hardware address: 0200-0000-0001
1000Mbps-speed mode , full-duplex mode
input:   57670968 packets, 348067745 bytes
"""
NXOS = """\
Tunnel901 is down
    Description: to a visitor
    Admin State: up
    Internet address is 192.0.2.54/24
    MTU 1476 bytes, BW 1000 Kbit
"""


@pytest.mark.parametrize(
    ("platform", "command", "text", "expected"),
    [
        pytest.param(
            *("huawei_vrp", "display interface", VRP),
            ("GigabitEthernet0/0/0", "up", None, None),
            id="VRP: an address of DHCP",
        ),
        pytest.param(
            *("hp_comware", "display interface", COMWARE),
            ("M-GigabitEthernet0/0/0", "up", 1000, "full"),
            id="Comware: a blank in front of the comma",
        ),
        pytest.param(
            *("cisco_nxos", "show interface", NXOS),
            ("Tunnel901", "up", 1, None),
            id="NX-OS: the state of a tunnel",
        ),
    ],
)
def test_an_interface(platform: str, command: str, text: str, expected: tuple[Any, ...]) -> None:
    (row,) = rows_of(platform, command, [text])
    assert (row.name, row.admin_status, row.speed_mbps, row.duplex) == expected
    assert [(one.address, one.prefix_length) for one in row.ip_addresses] == [("192.0.2.54", 24)]
