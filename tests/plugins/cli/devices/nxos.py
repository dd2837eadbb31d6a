"""A Nexus switch: Cisco's command references of NX-OS."""

from typing import Any

NXOS = {
    "show version": """\
Cisco Nexus Operating System (NX-OS) Software
TAC support: http://www.cisco.com/tac

Software
  BIOS: version 07.66
  NXOS: version 9.3(8)
  NXOS image file is: bootflash:///nxos.9.3.8.bin

Hardware
  cisco Nexus9000 C93180YC-EX chassis
  Processor Board ID FDO00000AAA

  Device name: leaf1
Kernel uptime is 12 day(s), 3 hour(s), 4 minute(s), 5 second(s)

Last reset
  Reason: Unknown
""",
    "show interface": """\
mgmt0 is up
admin state is up,
  Hardware: GigabitEthernet, address: 0200.0000.0100 (bia 0200.0000.0100)
  Internet Address is 192.0.2.10/24
  MTU 1500 bytes, BW 1000000 Kbit, DLY 10 usec
  full-duplex, 1000 Mb/s
  Rx
    30 input packets 22 unicast packets 5 multicast packets
    3 broadcast packets 2672 bytes
  Tx
    39 output packets 20 unicast packets 18 multicast packets
    1 broadcast packets 1172 bytes
Ethernet1/1 is up
admin state is up, Dedicated Interface
  Belongs to Po10
  Hardware: 1000/10000 Ethernet, address: 0200.0000.0101 (bia 0200.0000.0101)
  Description: to spine1
  MTU 9216 bytes, BW 10000000 Kbit, DLY 10 usec
  Port mode is trunk
  full-duplex, 10 Gb/s, media type is 10G
  RX
    100 unicast packets  50 multicast packets  1 broadcast packets
    151 input packets  15100 bytes
    0 runts  0 giants  2 CRC  0 no buffer
    2 input error  0 short frame  0 overrun   0 underrun  0 ignored
    0 watchdog  0 bad etype drop  0 bad proto drop  0 if down drop
    0 input with dribble  4 input discard
    0 Rx pause
  TX
    80 unicast packets  9 multicast packets  0 broadcast packets
    89 output packets  8900 bytes
    0 output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  5 output discard
    0 Tx pause
Ethernet1/2 is down (Administratively down)
admin state is down, Dedicated Interface
  Hardware: 1000/10000 Ethernet, address: 0200.0000.0102 (bia 0200.0000.0102)
  MTU 1500 bytes, BW 10000000 Kbit, DLY 10 usec
  auto-duplex, auto-speed
port-channel10 is up
admin state is up,
  Hardware: Port-Channel, address: 0200.0000.0101 (bia 0200.0000.0101)
  MTU 9216 bytes, BW 20000000 Kbit, DLY 10 usec
  full-duplex, 10 Gb/s
""",
    "show interface switchport": """\
Name: Ethernet1/1
  Switchport: Enabled
  Switchport Monitor: Not enabled
  Operational Mode: trunk
  Access Mode VLAN: 1 (default)
  Trunking Native Mode VLAN: 1 (default)
  Trunking VLANs Allowed: 1,100
Name: Ethernet1/2
  Switchport: Enabled
  Operational Mode: access
  Access Mode VLAN: 100 (users)
  Trunking Native Mode VLAN: 1 (default)
  Trunking VLANs Allowed: 1-4094
""",
    "show ip interface vrf all": """\
IP Interface Status for VRF "management"(2)
mgmt0, Interface status: protocol-up/link-up/admin-up, iod: 2,
  IP address: 192.0.2.10, IP subnet: 192.0.2.0/24 route-preference: 0, tag: 0
  IP address: 198.51.100.10, IP subnet: 198.51.100.0/25 secondary
  IP broadcast address: 255.255.255.255
""",
    "show ipv6 interface vrf all": """\
IPv6 Interface Status for VRF "management"(2)
mgmt0, Interface status: protocol-up/link-up/admin-up, iod: 2
  IPv6 address:
    2001:db8::10/64 [VALID]
  IPv6 subnet:  2001:db8::/64
  IPv6 link-local address: fe80::10 (default) [VALID]
""",
    "show lldp neighbors detail": """\
Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other
Device ID            Local Intf      Hold-time  Capability  Port ID

Chassis id: 0200.0000.00aa
Port id: Ethernet1/49
Local Port id: Eth1/1
Port Description: to leaf1
System Name: spine1.example.net
System Description: Cisco Nexus Operating System (NX-OS) Software 9.3(8)
Time remaining: 104 seconds
System Capabilities: B, R
Enabled Capabilities: B, R
Management Address: 192.0.2.1
Vlan ID: 1

Chassis id: 0200.0000.00ab
Port id: 0200.0000.00ab
Local Port id: mgmt0
Port Description: not advertised
System Name: not advertised
System Description: not advertised
Time remaining: 99 seconds
System Capabilities: not advertised
Enabled Capabilities: not advertised
Management Address: not advertised
Vlan ID: not advertised

Total entries displayed: 2
""",
    "show mac address-table": """\
Legend:
        * - primary entry, G - Gateway MAC, (R) - Routed MAC, O - Overlay MAC
        age - seconds since last seen,+ - primary entry using vPC Peer-Link,
        (T) - True, (F) - False, C - ControlPlane MAC, ~ - vsan
   VLAN     MAC Address      Type      age     Secure NTFY Ports
---------+-----------------+--------+---------+------+----+------------------
*  100     0200.0000.0032   dynamic  0         F      F    Eth1/1
+  100     0200.0000.0033   dynamic  0         F      F    vPC Peer-Link(R)
G    -     0200.0000.0101   static   -         F      F    sup-eth1(R)
""",
    "show ip arp vrf all": """\

Flags: * - Adjacencies learnt on non-active FHRP router
       + - Adjacencies synced via CFSoE
       # - Adjacencies Throttled for Glean

IP ARP Table for all contexts
Total number of entries: 2
Address         Age       MAC Address     Interface       Flags
192.0.2.1       00:11:22  0200.0000.00aa  mgmt0
192.0.2.77      00:00:02  INCOMPLETE      mgmt0
""",
    "show vlan": """\

VLAN Name                             Status    Ports
---- -------------------------------- --------- -------------------------------
1    default                          active    Eth1/1
100  users                            active    Eth1/1, Eth1/2
200  phones                           suspended

VLAN Type         Vlan-mode
---- -----        ----------
1    enet         CE
100  enet         CE
200  enet         CE
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "sys_name": "leaf1",
            "model": "C93180YC-EX",
            "os_version": "9.3(8)",
            "serial_number": "FDO00000AAA",
            "uptime_seconds": 1047845,
        }
    ],
    "interfaces": [
        {
            "name": "mgmt0",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 1500,
            "mac_address": "02:00:00:00:01:00",
            "ip_addresses": ("192.0.2.10/24", "198.51.100.10/25", "2001:db8::10/64", "fe80::10/64"),
            "counters": (2672, 1172, None, None, None, None),
        },
        {
            "name": "Ethernet1/1",
            "description": "to spine1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 10000,
            "duplex": "full",
            "mtu": 9216,
            "mac_address": "02:00:00:00:01:01",
            "vlan_id": 1,
            "lag": "port-channel10",
            "counters": (15100, 8900, 2, 0, 4, 5),
        },
        {
            "name": "Ethernet1/2",
            "admin_status": "down",
            "oper_status": "down",
            "speed_mbps": 10000,
            "duplex": "auto",
            "mtu": 1500,
            "mac_address": "02:00:00:00:01:02",
            "vlan_id": 100,
        },
        {
            "name": "port-channel10",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 20000,
            "duplex": "full",
            "mtu": 9216,
            "mac_address": "02:00:00:00:01:01",
        },
    ],
    "neighbors": [
        {
            "local_interface": "Ethernet1/1",
            "protocol": "lldp",
            "remote_system_name": "spine1.example.net",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "Ethernet1/49",
            "remote_port_description": "to leaf1",
            "remote_platform": "Cisco Nexus Operating System (NX-OS) Software 9.3(8)",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "router"),
        },
        {
            "local_interface": "mgmt0",
            "protocol": "lldp",
            "remote_chassis_id": "02:00:00:00:00:ab",
            "remote_port": "02:00:00:00:00:ab",
        },
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "Ethernet1/1", "type": "dynamic"},
        {
            "mac_address": "02:00:00:00:00:33",
            "vlan_id": 100,
            "interface": "vPC Peer-Link(R)",
            "type": "dynamic",
        },
        {"mac_address": "02:00:00:00:01:01", "interface": "sup-eth1(R)", "type": "static"},
    ],
    "arp": [
        {"ip_address": "192.0.2.1", "mac_address": "02:00:00:00:00:aa", "interface": "mgmt0"},
        {"ip_address": "192.0.2.77", "interface": "mgmt0"},
    ],
    "vlans": [
        {"vlan_id": 1, "name": "default", "status": "active", "untagged_interfaces": ("Ethernet1/1",)},
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("Ethernet1/1",),
            "untagged_interfaces": ("Ethernet1/2",),
        },
        {"vlan_id": 200, "name": "phones", "status": "suspended"},
    ],
}
