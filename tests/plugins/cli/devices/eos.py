"""A switch with EOS: Arista's user manual."""

from typing import Any

EOS = {
    "show version": """\
Arista DCS-7050TX-48-F
Hardware version:    01.11
Serial number:       JPE00000001
System MAC address:  0200.0000.0300

Software image version: 4.27.3F
Architecture:           i686
Internal build version: 4.27.3F-26379303.4273F

Uptime:                 1 weeks, 2 days, 3 hours and 4 minutes
Total memory:           3982512 kB
Free memory:            2765244 kB

""",
    "show interfaces": """\
Ethernet1 is up, line protocol is up (connected)
  Hardware is Ethernet, address is 0200.0000.0301 (bia 0200.0000.0301)
  Description: to spine1
  Ethernet MTU 9214 bytes, BW 10000000 kbit
  Full-duplex, 10Gb/s, auto negotiation: off, uni-link: n/a
  Up 14 days, 2 hours
     292 packets input, 31440 bytes
     Received 3 broadcasts, 0 multicast
     0 runts, 0 giants
     1 input errors, 0 CRC, 0 alignment, 0 symbol, 2 input discards
     0 PAUSE input
     203 packets output, 33221 bytes
     Sent 0 broadcasts, 32 multicast
     3 output errors, 0 collisions
     0 late collision, 0 deferred, 4 output discards
     0 PAUSE output
Ethernet2 is administratively down, line protocol is notpresent (disabled)
  Hardware is Ethernet, address is 0200.0000.0302 (bia 0200.0000.0302)
  Ethernet MTU 9214 bytes, BW 10000000 kbit
Vlan100 is up, line protocol is up (connected)
  Hardware is Vlan, address is 0200.0000.0300 (bia 0200.0000.0300)
  Internet address is 192.0.2.1/24
  Secondary address is 198.51.100.1/24
  Broadcast address is 255.255.255.255
  IP MTU 1500 bytes
""",
    "show interfaces switchport": """\
Name: Et1
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk
MAC Address Learning: enabled
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 1 (default)
Administrative Native VLAN tagging: disabled
Trunking VLANs Enabled: ALL
Static Trunk Groups:

Name: Et2
Switchport: Enabled
Administrative Mode: static access
Operational Mode: static access
Access Mode VLAN: 100 (users)
Trunking Native Mode VLAN: 1 (default)
Trunking VLANs Enabled: ALL
""",
    "show lldp neighbors detail": """\
Interface Ethernet1 detected 2 LLDP neighbors:

  Neighbor 0200.0000.00aa/"Ethernet5", age 12 seconds
  Discovered 1 days, 0:01:11 ago; Last changed 1 days, 0:01:11 ago
  - Chassis ID type: MAC address (4)
    Chassis ID     : 0200.0000.00aa
  - Port ID type: Interface name (5)
    Port ID        : "Ethernet5"
  - Port Description: "to leaf1"
  - System Name: "spine1.example.net"
  - System Description: "Arista Networks EOS version 4.27.3F"
  - System Capabilities : Bridge, Router
    Enabled Capabilities: Bridge, Router
  - Management Address Subtype: IPv4 (1)
    Management Address        : 192.0.2.9

  Neighbor 0200.0000.00ac/0200.0000.00ac, age 3 seconds
  - Chassis ID type: MAC address (4)
    Chassis ID     : 0200.0000.00ac
  - Port ID type: MAC address (3)
    Port ID        : 0200.0000.00ac

Interface Ethernet2 detected 0 LLDP neighbors:

""",
    "show mac address-table": """\
          Mac Address Table
------------------------------------------------------------------

Vlan    Mac Address       Type        Ports      Moves   Last Move
----    -----------       ----        -----      -----   ---------
 100    0200.0000.0032    DYNAMIC     Et1        1       0:08:16 ago
 100    0200.0000.0033    STATIC      Et2
Total Mac Addresses for this criterion: 2

          Multicast Mac Address Table
------------------------------------------------------------------

Vlan    Mac Address       Type        Ports
----    -----------       ----        -----
Total Mac Addresses for this criterion: 0
""",
    "show ip arp vrf all": """\
VRF: default
Address         Age (sec)  Hardware Addr   Interface
192.0.2.9         0:03:28  0200.0000.00aa  Vlan100, Ethernet1
VRF: mgmt
Address         Age (sec)  Hardware Addr   Interface
203.0.113.1       0:00:05  0200.0000.00ad  Management1
""",
    "show vlan": """\
VLAN  Name                             Status    Ports
----- -------------------------------- --------- -------------------------------
1     default                          active    Et1
100   users                            active    Cpu, Et1,
                                                 Et2
1006* VLAN1006                         active

* indicates a Dynamic VLAN
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "model": "DCS-7050TX-48-F",
            "os_version": "4.27.3F",
            "serial_number": "JPE00000001",
            "uptime_seconds": 788640,
            "chassis_ids": ("02:00:00:00:03:00",),
        }
    ],
    "interfaces": [
        {
            "name": "Ethernet1",
            "description": "to spine1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 10000,
            "duplex": "full",
            "mtu": 9214,
            "mac_address": "02:00:00:00:03:01",
            "vlan_id": 1,
            "counters": (31440, 33221, 1, 3, 2, 4),
        },
        {
            "name": "Ethernet2",
            "admin_status": "down",
            "oper_status": "down",
            "speed_mbps": 10000,
            "mtu": 9214,
            "mac_address": "02:00:00:00:03:02",
            "vlan_id": 100,
        },
        {
            "name": "Vlan100",
            "admin_status": "up",
            "oper_status": "up",
            "mtu": 1500,
            "mac_address": "02:00:00:00:03:00",
            "ip_addresses": ("192.0.2.1/24", "198.51.100.1/24"),
        },
    ],
    "neighbors": [
        {
            "local_interface": "Ethernet1",
            "protocol": "lldp",
            "remote_system_name": "spine1.example.net",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "Ethernet5",
            "remote_port_description": "to leaf1",
            "remote_platform": "Arista Networks EOS version 4.27.3F",
            "remote_mgmt_address": "192.0.2.9",
            "remote_capabilities": ("bridge", "router"),
        },
        {
            "local_interface": "Ethernet1",
            "protocol": "lldp",
            "remote_chassis_id": "02:00:00:00:00:ac",
            "remote_port": "02:00:00:00:00:ac",
        },
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "Ethernet1", "type": "dynamic"},
        {"mac_address": "02:00:00:00:00:33", "vlan_id": 100, "interface": "Ethernet2", "type": "static"},
    ],
    "arp": [
        {"ip_address": "192.0.2.9", "mac_address": "02:00:00:00:00:aa", "interface": "Vlan100"},
        {
            "ip_address": "203.0.113.1",
            "mac_address": "02:00:00:00:00:ad",
            "interface": "Management1",
            "vrf": "mgmt",
        },
    ],
    "vlans": [
        {"vlan_id": 1, "name": "default", "status": "active", "untagged_interfaces": ("Ethernet1",)},
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("Ethernet1",),
            "untagged_interfaces": ("Ethernet2",),
        },
        {"vlan_id": 1006, "name": "VLAN1006", "status": "active"},
    ],
}
