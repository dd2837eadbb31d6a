"""One fact at a time: the line that tells it, below the head of its interface or neighbor."""

from typing import Any

import pytest

from netautod.plugin_api import InterfaceAddress
from netautod_cli.collector import rows_of
from netautod_cli.reads import READS

HEADS = {
    "cisco_ios": "GigabitEthernet0/1 is up, line protocol is up\n",
    "cisco_nxos": "Ethernet1/1 is up\nadmin state is up, Dedicated Interface\n",
    "cisco_xr": "GigabitEthernet0/0/0/1 is up, line protocol is up\n",
    "arista_eos": "Ethernet1 is up, line protocol is up (connected)\n",
    "juniper_junos": "Physical interface: ge-0/0/1, Enabled, Physical link is Up\n",
    "huawei_vrp": "GigabitEthernet0/0/1 current state : UP\nLine protocol current state : UP\n",
    "hp_comware": "GigabitEthernet1/0/1\nCurrent state: UP\nLine protocol state: UP\n",
    "aruba_aoscx": "Interface 1/1/1 is up\n",
}
COUNTED_IOS = """\
  Input queue: 0/75/3/1 (size/max/drops/flushes); Total output drops: 4
     100 packets input, 64000 bytes, 0 no buffer
     1 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored
     90 packets output, 59000 bytes, 0 underruns
     2 output errors, 0 collisions, 0 interface resets
"""
COUNTED_JUNOS = """\
  Traffic statistics:
   Input  bytes  :                64000                    0 bps
   Output bytes  :                59000                    0 bps
  Input errors:
    Errors: 1, Drops: 3, Framing errors: 0, Runts: 0
  Output errors:
    Carrier transitions: 5, Errors: 2, Drops: 4, Collisions: 0
"""
COUNTED_FC = """\
      95020 frames input, 4941396 bytes
        0 discards, 0 errors
      95026 frames output, 53208452 bytes
"""
COUNTED_COMWARE = """\
 Input: 100 packets, 64000 bytes, 3 drops
 Output: 90 packets, 59000 bytes, 4 drops
"""
COUNTED_CELLULAR = """\
Input:
  100 packets, 64000 bytes
  0 broadcasts, 0 multicasts, 0 pauses
  1 errors, 0 runts, 0 giants
Output:
  90 packets, 59000 bytes
  0 broadcasts, 0 multicasts, 0 pauses
  2 errors, 0 underruns, 0 collisions
"""
COUNTED_AOSCX = """\
 Rx
            100 total packets            64000 total bytes
              1 errors                       3 dropped
 Tx
             90 total packets            59000 total bytes
              2 errors                       4 dropped
"""
OF_PORTS: list[tuple[str, str, str, Any]] = [
    ("cisco_ios", "  Full Duplex, 1000Mbps, link type is auto, media type is RJ45", "speed_mbps", 1000),
    ("cisco_ios", "  Half-duplex, 10Mb/s", "duplex", "half"),
    ("cisco_ios", "  Encapsulation 802.1Q Virtual LAN, Vlan ID  30.", "vlan_id", 30),
    ("cisco_ios", "  MTU 1500 bytes, BW 2048 Kbit/sec, DLY 20000 usec,", "speed_mbps", 2),
    ("cisco_ios", "  Hardware is Loopback", "mac_address", None),
    ("cisco_nxos", "  full-duplex, 40 Gb/s, media type is 40G", "speed_mbps", 40_000),
    ("cisco_nxos", "  Encapsulation 802.1Q Virtual LAN, Vlan ID 30, medium is broadcast", "vlan_id", 30),
    ("cisco_nxos", "  Port description is to the array", "description", "to the array"),
    ("cisco_xr", "  Full-duplex, 10000Mb/s, LR, link type is force-up", "speed_mbps", 10_000),
    ("cisco_xr", "  Encapsulation 802.1Q Virtual LAN, VLAN Id 30,  loopback not set,", "vlan_id", 30),
    ("arista_eos", "  Full-duplex, 100Gb/s, auto negotiation: off, uni-link: n/a", "speed_mbps", 100_000),
    ("arista_eos", "  Member of Port-Channel7", "lag", "Port-Channel7"),
    ("cisco_nxos", "  Belongs to Po7", "lag", "Port-channel7"),
    (
        "juniper_junos",
        "  Link-level type: Ethernet, MTU: 1514, Link-mode: Half-duplex, Speed: 10Gbps",
        "duplex",
        "half",
    ),
    ("juniper_junos", "  Link-level type: Ethernet, MTU: 1514, Speed: 10Gbps", "speed_mbps", 10_000),
    ("huawei_vrp", "Speed : 2500,   Loopback: NONE", "speed_mbps", 2500),
    ("huawei_vrp", "Duplex: HALF,   Negotiation: DISABLE", "duplex", "half"),
    ("hp_comware", " 10Gbps-speed mode, full-duplex mode", "speed_mbps", 10_000),
    ("hp_comware", " 1000M, Full, link type is autonegotiation", "speed_mbps", 1000),
    ("hp_comware", " 100Mb/s, Half-duplex, link type: autonegotiation", "duplex", "half"),
    ("hp_comware", "  Untagged VLAN ID : 200", "vlan_id", 200),
    ("aruba_aoscx", " Speed 25 Gb/s", "speed_mbps", 25_000),
    ("aruba_aoscx", " Admin state is down", "admin_status", "down"),
]


@pytest.mark.parametrize(("platform", "line", "field", "value"), OF_PORTS)
def test_a_fact_of_a_port(platform: str, line: str, field: str, value: Any) -> None:
    command = READS[platform]["interfaces"].command
    (row,) = rows_of(platform, command, [f"{HEADS[platform]}{line}\n"])
    assert getattr(row, field) == value
    (row,) = rows_of(platform, command, [HEADS[platform]])
    assert value is None or getattr(row, field) != value  # it is this line that tells it


@pytest.mark.parametrize(
    ("platform", "text", "expected"),
    [
        pytest.param("cisco_ios", COUNTED_IOS, (64000, 59000, 1, 2, 3, 4), id="IOS"),
        pytest.param("juniper_junos", COUNTED_JUNOS, (64000, 59000, 1, 2, 3, 4), id="Junos, extensive"),
        pytest.param(
            "juniper_junos",
            "  Input errors: 1, Output errors: 2\n",
            (None, None, 1, 2, None, None),
            id="Junos, brief",
        ),
        pytest.param(
            "cisco_nxos", COUNTED_FC, (4941396, 53208452, None, None, None, None), id="fiber channel"
        ),
        pytest.param(
            "hp_comware", COUNTED_COMWARE, (64000, 59000, None, None, 3, 4), id="Comware, VLAN interface"
        ),
        pytest.param(
            "hp_comware", COUNTED_CELLULAR, (64000, 59000, 1, 2, None, None), id="Comware, cellular"
        ),
        pytest.param("aruba_aoscx", COUNTED_AOSCX, (64000, 59000, 1, 2, 3, 4), id="AOS-CX before 10.06"),
    ],
)
def test_counters(platform: str, text: str, expected: tuple[int | None, ...]) -> None:
    (row,) = rows_of(platform, READS[platform]["interfaces"].command, [HEADS[platform] + text])
    assert tuple(getattr(row.counters, name) for name in row.counters.__slots__) == expected


@pytest.mark.parametrize(
    ("platform", "line", "address", "length"),
    [
        ("cisco_ios", "  Internet address is 192.0.2.1/24", "192.0.2.1", 24),
        ("cisco_nxos", "  Internet Address is 192.0.2.1/24", "192.0.2.1", 24),
        ("huawei_vrp", "Internet Address is negotiated, 192.0.2.1/32", "192.0.2.1", 32),
        ("hp_comware", "Internet Address is 192.0.2.1/24 Primary", "192.0.2.1", 24),
        ("aruba_aoscx", " IPv6 address 2001:db8::1/64", "2001:db8::1", 64),
        (
            "juniper_junos",
            "        Destination: 10/8, Local: 10.0.0.1, Broadcast: 10.255.255.255",
            "10.0.0.1",
            8,
        ),
        ("juniper_junos", "        Destination: 192.0.2.2, Local: 192.0.2.1", "192.0.2.1", 32),
        ("juniper_junos", "        Local: 2001:db8::9", "2001:db8::9", 128),
    ],
)
def test_an_address(platform: str, line: str, address: str, length: int) -> None:
    (row,) = rows_of(platform, READS[platform]["interfaces"].command, [f"{HEADS[platform]}{line}\n"])
    assert row.ip_addresses == (InterfaceAddress(address=address, prefix_length=length),)


@pytest.mark.parametrize("platform", ["cisco_ios", "cisco_xr", "arista_eos"])
def test_the_members_of_an_aggregate(platform: str) -> None:
    aggregate = "Port-channel7 is up, line protocol is up\n  Members in this channel: Gi0/1 Gi0/2\n"
    text = aggregate + "".join(f"GigabitEthernet0/{one} is up, line protocol is up\n" for one in (1, 2, 3))
    rows = rows_of(platform, READS[platform]["interfaces"].command, [text])
    assert [row.lag for row in rows] == [None, "Port-channel7", "Port-channel7", None]


@pytest.mark.parametrize(
    ("platform", "tags", "vlan"),
    [
        pytest.param("juniper_junos", "VLAN-Tag [ 0x8100.2036 ]", 2036, id="a tagged unit"),
        pytest.param("juniper_junos", "", None, id="an untagged unit"),
    ],
)
def test_the_vlan_of_a_unit(platform: str, tags: str, vlan: int | None) -> None:
    unit = "  Logical interface ge-0/0/1.5 (Index 74) (SNMP ifIndex 535)\n"
    unit += f"    Flags: Up {tags} Encapsulation: ENET2\n"
    _, row = rows_of(platform, "show interfaces", [HEADS[platform] + unit])
    assert (row.name, row.if_index, row.vlan_id, row.oper_status) == ("ge-0/0/1.5", 535, vlan, "up")


CDP_OF = {
    "cisco_ios": """\
-------------------------
Device ID: phone1.example.net
Entry address(es):
  IP address: 192.0.2.44
Platform: Cisco IP Phone 8841,  Capabilities: Host Phone Switch
Interface: GigabitEthernet1/0/7,  Port ID (outgoing port): Port 1
Holdtime : 132 sec

Version :
sip88xx.12-8-1
""",
    "cisco_nxos": """\
----------------------------------------
Device ID:phone1.example.net(SEP0001)
System Name: phone1.example.net

Interface address(es):
    IPv4 Address: 192.0.2.44
Platform: Cisco IP Phone 8841, Capabilities: Host Phone Switch
Interface: Ethernet1/7, Port ID (outgoing port): Port 1
Holdtime: 132 sec

Version:
sip88xx.12-8-1
""",
    "cisco_xr": """\
-------------------------
Device ID: phone1.example.net
SysName :
Entry address(es):
  IPv4 address: 192.0.2.44
Platform: Cisco IP Phone 8841,  Capabilities: Host Phone Switch
Interface: GigabitEthernet0/0/0/7
Port ID (outgoing port): Port 1
Holdtime : 132 sec

Version :
sip88xx.12-8-1
""",
}
LOCAL = {
    "cisco_ios": "GigabitEthernet1/0/7",
    "cisco_nxos": "Ethernet1/7",
    "cisco_xr": "GigabitEthernet0/0/0/7",
}


@pytest.mark.parametrize("platform", CDP_OF)
def test_a_neighbor_that_speaks_cdp_alone(platform: str) -> None:
    read = READS[platform]["neighbors"]
    outputs = ["% LLDP is not enabled\n", *(CDP_OF[platform] if "cdp" in one else None for one in read.more)]
    (row,) = rows_of(platform, read.command, outputs)
    assert (row.local_interface, row.protocol, row.remote_port) == (LOCAL[platform], "cdp", "Port 1")
    assert (row.remote_system_name, row.remote_platform) == ("phone1.example.net", "Cisco IP Phone 8841")
    assert (row.remote_mgmt_address, row.remote_capabilities) == ("192.0.2.44", ("telephone", "bridge"))


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        pytest.param("cisco_ios", "Management Addresses:\n    IPV6: 2001:DB8::44\n", id="IOS"),
        pytest.param("cisco_nxos", "Management Address IPV6: 2001:db8::44\n", id="NX-OS"),
        pytest.param("cisco_xr", "Management Addresses:\n  IPv6 address: 2001:db8::44\n", id="XR"),
    ],
)
def test_a_neighbor_that_is_managed_by_ipv6(platform: str, text: str) -> None:
    head = "Local Intf: Gi1/0/7\nChassis id: 0200.0000.00aa\nPort id: 7\nLocal Port id: Gi1/0/7\n"
    (row,) = rows_of(platform, READS[platform]["neighbors"].command, [head + text])
    assert row.remote_mgmt_address == "2001:db8::44"


TRUNK = """\
Name: Gi1/0/1
{switchport}
Administrative Mode: trunk
Operational Mode: {mode}
Access Mode VLAN: 5 (five)
Trunking Native Mode VLAN: 1 (default)
Trunking VLANs Enabled: {carried}
"""
LISTED = """\
VLAN Name                             Status    Ports
---- -------------------------------- --------- -------------------------------
1    default                          active
5    five                             active
6    six                              active
7    seven                            active
"""


@pytest.mark.parametrize(
    ("changes", "tagged", "untagged"),
    [
        pytest.param({"carried": "1,5-6"}, [5, 6], [1], id="a trunk with a native VLAN"),
        pytest.param({"carried": "ALL"}, [5, 6, 7], [1], id="all VLANs that there are"),
        pytest.param({"carried": "5-6,\n     7"}, [5, 6, 7], [], id="a list of two lines"),
        pytest.param({"carried": "6-4094", "mode": "down"}, [6, 7], [], id="a trunk that is down"),
        pytest.param({"carried": "ALL", "switchport": "Switchport: Disabled"}, [], [], id="a routed port"),
    ],
)
def test_the_vlans_of_a_trunk(changes: dict[str, str], tagged: list[int], untagged: list[int]) -> None:
    text = TRUNK.format(**{"mode": "trunk", "switchport": "Switchport: Enabled", **changes})
    rows = rows_of("cisco_ios", "show vlan", [LISTED, text])
    port = ("GigabitEthernet1/0/1",)
    assert [row.vlan_id for row in rows if row.tagged_interfaces == port] == tagged
    assert [row.vlan_id for row in rows if row.untagged_interfaces == port] == untagged
