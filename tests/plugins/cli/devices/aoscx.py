"""A switch with AOS-CX: Aruba's CLI guides."""

from typing import Any

AOSCX = {
    "show system": """\
Hostname               : cx1
System Description     : ML.10.08.1010
System Contact         :
System Location        :

Vendor                 : Aruba
Product Name           : JL659A 6300M 48SR5 CL6 PoE 4SFP56 Swch
Chassis Serial Nbr     : SG00000002
Base MAC Address       : 020000-000600
ArubaOS-CX Version     : ML.10.08.1010

Time Zone              : UTC

Up Time                : 2 weeks, 1 day, 3 hours, 4 minutes
CPU Util (%)           : 7
Memory Usage (%)       : 22
""",
    "show interface": """\

Interface 1/1/1 is up
 Admin state is up
 Link state: up for 14 hours
 Link transitions: 1
 Description: to core1
 Hardware: Ethernet, MAC Address: 02:00:00:00:06:01
 MTU 1500
 Type 1GbT
 Full-duplex
 qos trust none
 Speed 1000 Mb/s
 Auto-negotiation is on
 Flow-control: off
 Error-control: off
 VLAN Mode: native-untagged
 Native VLAN: 1
 Allowed VLAN List: 1,100
 Rate collection interval: 300 seconds

 Statistic                          RX                   TX                Total
 ---------------- -------------------- -------------------- --------------------
 Packets                           100                   90                  190
   Unicast                          90                   80                  170
 Bytes                           64000                59000               123000
 Dropped                             3                    4                    7
 Errors                              1                    2                    3

Interface 1/1/2 is down (Administratively down)
 Admin state is down
 State information: Administratively down
 Description:
 Hardware: Ethernet, MAC Address: 02:00:00:00:06:02
 MTU 1500
 Full-duplex
 Speed 0 Mb/s
 VLAN Mode: access
 Access VLAN: 100

Aggregate lag10 is up
 Admin state is up
 Description : uplink
 MAC Address                 : 02:00:00:00:06:00
 Aggregated-interfaces       : 1/1/3 1/1/4
 Aggregation-key             : 10
 Speed 2000 Mb/s
 VLAN Mode: native-untagged
 Native VLAN: 1
 Allowed VLAN List: 100

Interface 1/1/3 is up
 Admin state is up
 Hardware: Ethernet, MAC Address: 02:00:00:00:06:03
 MTU 1500
 Speed 1000 Mb/s

Interface vlan100 is up
 Admin state is up
 Hardware: Ethernet, MAC Address: 02:00:00:00:06:00
 IPv4 address 192.0.2.6/24
 IPv4 address 198.51.100.6/24 secondary
""",
    "show lldp neighbor-info detail": """\

LLDP Neighbor Information
=========================

Total Neighbor Entries          : 1
Total Neighbor Entries Deleted  : 0
Total Neighbor Entries Dropped  : 0
Total Neighbor Entries Aged-Out : 0

--------------------------------------------------------------------------------
Port                           : 1/1/1
Neighbor Entries               : 1
Neighbor Entries Deleted       : 0
Neighbor Entries Dropped       : 0
Neighbor Entries Aged-Out      : 0
Neighbor Chassis-Name          : core1.example.net
Neighbor Chassis-Description   : Cisco IOS Software
Neighbor Chassis-ID            : 02:00:00:00:00:aa
Neighbor Management-Address    : 192.0.2.1
Chassis Capabilities Available : Bridge, Router
Chassis Capabilities Enabled   : Bridge, Router
Neighbor Port-ID               : Gi1/0/24
Neighbor Port-Desc             : to cx1
Neighbor Port VLAN ID          : 1
TTL                            : 120
""",
    "show mac-address-table": """\
MAC age-time            : 300 seconds
Number of MAC addresses : 2

MAC Address          VLAN     Type                      Port
--------------------------------------------------------------
02:00:00:00:00:32    100      dynamic                   lag10
02:00:00:00:00:33    1        port-access-security      1/1/1
""",
    "show arp all-vrfs": """\

IPv4 Address     MAC                Port         Physical Port  State     VRF
------------------------------------------------------------------------------------
192.0.2.1        02:00:00:00:00:aa  vlan100      lag10          reachable default
203.0.113.1      02:00:00:00:00:ad  mgmt         mgmt           stale     mgmt

Total Number Of ARP Entries Listed- 2.
------------------------------------------------------------------------------------
""",
    "show vlan": """\

---------------------------------------------------------------------------------------------
VLAN  Name                              Status  Reason                  Type        Interfaces
---------------------------------------------------------------------------------------------
1     DEFAULT_VLAN_1                    up      ok                      default     1/1/1,lag10
100   users                             up      ok                      static      1/1/1-1/1/2,lag10
200   spare                             down    no_member_port          static
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "sys_name": "cx1",
            "model": "JL659A 6300M 48SR5 CL6 PoE 4SFP56 Swch",
            "os_version": "ML.10.08.1010",
            "serial_number": "SG00000002",
            "uptime_seconds": 1307040,
            "cpu_percent": 7.0,
            "memory_percent": 22.0,
            "chassis_ids": ("02:00:00:00:06:00",),
        }
    ],
    "interfaces": [
        {
            "name": "1/1/1",
            "description": "to core1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 1500,
            "mac_address": "02:00:00:00:06:01",
            "vlan_id": 1,
            "counters": (64000, 59000, 1, 2, 3, 4),
        },
        {
            "name": "1/1/2",
            "admin_status": "down",
            "oper_status": "down",
            "duplex": "full",
            "mtu": 1500,
            "mac_address": "02:00:00:00:06:02",
            "vlan_id": 100,
        },
        {
            "name": "lag10",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 2000,
            "mac_address": "02:00:00:00:06:00",
            "vlan_id": 1,
        },
        {
            "name": "1/1/3",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "mtu": 1500,
            "mac_address": "02:00:00:00:06:03",
            "lag": "lag10",
        },
        {
            "name": "vlan100",
            "admin_status": "up",
            "oper_status": "up",
            "mac_address": "02:00:00:00:06:00",
            "ip_addresses": ("192.0.2.6/24", "198.51.100.6/24"),
        },
    ],
    "neighbors": [
        {
            "local_interface": "1/1/1",
            "protocol": "lldp",
            "remote_system_name": "core1.example.net",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "GigabitEthernet1/0/24",
            "remote_port_description": "to cx1",
            "remote_platform": "Cisco IOS Software",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "router"),
        }
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "lag10", "type": "dynamic"},
        {
            "mac_address": "02:00:00:00:00:33",
            "vlan_id": 1,
            "interface": "1/1/1",
            "type": "port-access-security",
        },
    ],
    "arp": [
        {
            "ip_address": "192.0.2.1",
            "mac_address": "02:00:00:00:00:aa",
            "interface": "vlan100",
            "type": "dynamic",
        },
        {
            "ip_address": "203.0.113.1",
            "mac_address": "02:00:00:00:00:ad",
            "interface": "mgmt",
            "vrf": "mgmt",
            "type": "dynamic",
        },
    ],
    "vlans": [
        {
            "vlan_id": 1,
            "name": "DEFAULT_VLAN_1",
            "status": "active",
            "untagged_interfaces": ("1/1/1", "lag10"),
        },
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("1/1/1", "lag10"),
            "untagged_interfaces": ("1/1/2",),
        },
        {"vlan_id": 200, "name": "spare", "status": "down"},
    ],
}
