"""Forms of outputs that releases of one platform differ in: each is read, or refused, and none by halves."""

from typing import Any

import pytest

from netautod_cli.collector import rows_of
from netautod_cli.unreadable import Unreadable
from tests.plugins.cli.devices import DEVICES

VRP5 = """\
MAC address table of slot 0:
-------------------------------------------------------------------------------
MAC Address    VLAN/       PEVLAN CEVLAN Port            Type      LSP/LSR-ID
               VSI/SI                                              MAC-Tunnel
-------------------------------------------------------------------------------
0200-0000-0032 100         -      -      GE0/0/1         dynamic   0/-
-------------------------------------------------------------------------------
Total matching items on slot 0 displayed = 1
"""
VRP8 = """\
Flags: * - Backup
BD   : bridge-domain   Age : dynamic MAC learned time in seconds
-------------------------------------------------------------------------------
MAC Address    VLAN/VSI/BD   Learned-From        Type                Age
-------------------------------------------------------------------------------
0200-0000-0032 100/-/-       10GE1/0/1           dynamic               -
-------------------------------------------------------------------------------
Total items: 1
"""
EX = """\
Ethernet-switching table: 2 entries, 1 learned
  VLAN              MAC address       Type         Age Interfaces
  users             *                 Flood          - All-members
  users             02:00:00:00:00:32 Learn          0 ge-0/0/44.0
"""
FABRIC = """\
MAC flags (S - static MAC, D - dynamic MAC, L - locally learned, P - Persistent static)

Ethernet switching table : 1 entries, 1 learned
Routing instance : default-switch
   Vlan                MAC                 MAC      Logical                SVLBNH/      Active
   name                address             flags    interface              VENH Index   source
   users               02:00:00:00:00:32   DR       vtep.32769                          192.0.2.9
"""
PROCURVE = """\
 Status and Counters - Address Table

  MAC Address   Located on Port
  ------------- ---------------
  020000-000032 A1
"""
COMWARE5 = """\
MAC ADDR       VLAN ID  STATE          PORT INDEX               AGING TIME(s)
0200-0000-0032 100      Learned        GigabitEthernet1/0/1     AGING

  ---  1 mac address(es) found  ---
"""
NEXUS7 = """\
 Note: MAC table entries displayed are getting read from software.
 Use the 'hardware-age' keyword to get information related to 'Age'

 Legend:
        * - primary entry, G - Gateway MAC, (R) - Routed MAC, O - Overlay MAC
   VLAN/BD   MAC Address      Type      age     Secure NTFY Ports/SWID.SSID.LID
---------+-----------------+--------+---------+------+----+------------------
* 100       0200.0000.0032    dynamic      ~~~      F    F  Eth1/1
"""
ROW = "02:00:00:00:00:32"


@pytest.mark.parametrize(
    ("platform", "command", "text", "row"),
    [
        pytest.param(
            *("huawei_vrp", "display mac-address", VRP5),
            (ROW, 100, "GigabitEthernet0/0/1", "dynamic"),
            id="VRP 5 with QinQ",
        ),
        pytest.param(
            *("huawei_vrp", "display mac-address", VRP8), (ROW, 100, "10GE1/0/1", "dynamic"), id="VRP 8"
        ),
        pytest.param(
            *("juniper_junos", "show ethernet-switching table", EX),
            (ROW, None, "ge-0/0/44.0", "dynamic"),
            id="Junos without ELS",
        ),
        pytest.param(
            *("juniper_junos", "show ethernet-switching table", FABRIC),
            (ROW, None, "vtep.32769", "dynamic"),
            id="Junos in a fabric",
        ),
        pytest.param("hp_procurve", "show mac-address", PROCURVE, (ROW, None, "A1", None), id="ProCurve"),
        pytest.param(
            *("hp_comware", "display mac-address", COMWARE5),
            (ROW, 100, "GigabitEthernet1/0/1", "dynamic"),
            id="Comware 5",
        ),
        pytest.param(
            *("cisco_nxos", "show mac address-table", NEXUS7),
            (ROW, 100, "Ethernet1/1", "dynamic"),
            id="Nexus 7000",
        ),
    ],
)
def test_a_forwarding_table(platform: str, command: str, text: str, row: tuple[Any, ...]) -> None:
    (found,) = rows_of(platform, command, [text])
    assert (found.mac_address, found.vlan_id, found.interface, found.type) == row


IOS_HEADS = """\
Vlan1 is up, line protocol is up , Autostate Enabled
  Hardware is Ethernet SVI, address is 0200.0000.0001 (bia 0200.0000.0001)
GigabitEthernet1/0/1 is up, line protocol is down (notconnect)
  Hardware is Gigabit Ethernet, address is 0200.0000.0002 (bia 0200.0000.0002)
  Full-duplex, 10Gb/s, media type is SFP-10GBase-SR
Serial0/0/0:0 is administratively down, line protocol is down
  Hardware is DSX1
Control Plane Interface is up, line protocol is up
  Hardware is Control Plane
"""


def test_heads_of_ios() -> None:
    rows = rows_of("cisco_ios", "show interfaces", [IOS_HEADS])
    assert [(row.name, row.admin_status, row.oper_status, row.speed_mbps) for row in rows] == [
        ("Vlan1", "up", "up", None),
        ("GigabitEthernet1/0/1", "up", "down", 10_000),
        ("Serial0/0/0:0", "down", "down", None),
        ("Control Plane Interface", "up", "up", None),
    ]


@pytest.mark.parametrize(
    ("platform", "command", "kind", "expected"),
    [
        pytest.param("juniper_junos", "show arp no-resolve", "permanent", "static", id="Junos, permanent"),
        pytest.param("juniper_junos", "show arp no-resolve", "none", "dynamic", id="Junos, none"),
        pytest.param("juniper_junos", "show arp no-resolve", "remote", "remote", id="a word of the device"),
    ],
)
def test_the_kind_of_a_neighbor(platform: str, command: str, kind: str, expected: str) -> None:
    head = "MAC Address       Address         Interface         Flags\n"
    (row,) = rows_of(platform, command, [f"{head}02:00:00:00:00:aa 192.0.2.1 ge-0/0/0.0 {kind}\n"])
    assert row.type == expected


@pytest.mark.parametrize(
    ("platform", "command", "text"),
    [
        pytest.param("cisco_ios", "show interfaces", IOS_HEADS + "eth7 is renamed, up\n", id="IOS"),
        pytest.param(
            "juniper_junos",
            "show interfaces",
            DEVICES["juniper_junos"]["show interfaces"] + "Physical interface: xe-0/0/9 is new\n",
            id="Junos",
        ),
        pytest.param(
            "hp_comware",
            "display interface",
            DEVICES["hp_comware"]["display interface"] + "\nCurrent state: UP\n",
            id="Comware",
        ),
    ],
)
def test_the_head_of_another_form_ends_the_reading(platform: str, command: str, text: str) -> None:
    """Refuse the output: its facts would go to the interface before it."""
    with pytest.raises(Unreadable):
        rows_of(platform, command, [text])


def test_any_other_line_within_an_interface_does_no_harm() -> None:
    text = IOS_HEADS.replace(
        "  Hardware is DSX1\n", "  Hardware is DSX1\n  Something new: 7, 100Mb/s, address 1\n"
    )
    assert rows_of("cisco_ios", "show interfaces", [text]) == rows_of(
        "cisco_ios", "show interfaces", [IOS_HEADS]
    )
