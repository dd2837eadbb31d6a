"""A switch with VRP: Huawei's command references."""

from typing import Any

VRP = {
    "display version": """\
Huawei Versatile Routing Platform Software
VRP (R) software, Version 5.170 (S5720 V200R011C10SPC600)
Copyright (C) 2000-2018 HUAWEI TECH CO., LTD
HUAWEI S5720-28X-SI-AC Routing Switch uptime is 2 weeks, 1 day, 3 hours, 4 minutes

ES5D2S28X009 0(Master)  : uptime is 2 weeks, 1 day, 3 hours, 3 minutes
""",
    "display interface": """\
GigabitEthernet0/0/1 current state : UP
Line protocol current state : UP
Description:to core1
Switch Port, Link-type : trunk(configured),
PVID :    1, TPID : 8100(Hex), The Maximum Frame Length is 9216
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 0200-0000-0801
Last physical up time   : 2021-12-01 10:00:00
Port Mode: COMMON COPPER
Speed : 1000,  Loopback: NONE
Duplex: FULL,  Negotiation: ENABLE
Mdi   : AUTO,  Flow-control: DISABLE
Last 300 seconds input rate 30 bits/sec, 0 packets/sec
Last 300 seconds output rate 40 bits/sec, 0 packets/sec

Input:  100 packets, 64000 bytes
  Unicast:                         90,  Multicast:                           5
  Broadcast:                        5,  Jumbo:                               0
  Discard:                          3,  Pause:                               0
  Frames:                           0

  Total Error:                      1
  CRC:                              1,  Giants:                              0

Output:  90 packets, 59000 bytes
  Unicast:                         80,  Multicast:                           5
  Broadcast:                        5,  Jumbo:                               0
  Discard:                          4,  Pause:                               0

  Total Error:                      2
  Collisions:                       0,  Late Collisions:                     0

    Input bandwidth utilization  : 0.01%
    Output bandwidth utilization : 0.01%

GigabitEthernet0/0/2 current state : Administratively DOWN
Line protocol current state : DOWN
Description:
Switch Port, PVID :  100, TPID : 8100(Hex), The Maximum Frame Length is 9216
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 0200-0000-0802

Vlanif100 current state : UP
Line protocol current state : UP
Description:users
Route Port,The Maximum Transmit Unit is 1500
Internet Address is 192.0.2.8/24
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 0200-0000-0800
""",
    "display lldp neighbor": """\
GigabitEthernet0/0/1 has 1 neighbor(s):

Neighbor index :1
Chassis type   :MAC address
Chassis ID     :0200-0000-00aa
Port ID type   :Interface name
Port ID        :GigabitEthernet0/0/24
Port description    :to access3
System name         :core1
System description  :S5720-28X-SI-AC
Huawei Versatile Routing Platform Software
System capabilities supported   :bridge router
System capabilities enabled     :bridge router
Management address type  :ipv4
Management address value :192.0.2.1
OID  :0.6.15.43.
Expired time   :104s

GigabitEthernet0/0/2 has 0 neighbor(s)
""",
    "display mac-address": """\
-------------------------------------------------------------------------------
MAC Address    VLAN/VSI/BD                       Learned-From        Type
-------------------------------------------------------------------------------
0200-0000-0032 100/-/-                           GE0/0/1             dynamic
0200-0000-0033 100/-/-                           GE0/0/2             static

-------------------------------------------------------------------------------
Total items displayed = 2

""",
    "display arp all": """\
IP ADDRESS      MAC ADDRESS     EXPIRE(M) TYPE        INTERFACE   VPN-INSTANCE
                                          VLAN/CEVLAN
------------------------------------------------------------------------------
192.0.2.8       0200-0000-0800            I -         Vlanif100
192.0.2.1       0200-0000-00aa  18        D-0         GE0/0/1
                                          100/-
------------------------------------------------------------------------------
Total:2         Dynamic:1       Static:0     Interface:1
""",
    "display vlan": """\
The total number of VLANs is: 2
--------------------------------------------------------------------------------
U: Up;         D: Down;         TG: Tagged;         UT: Untagged;
MP: Vlan-mapping;               ST: Vlan-stacking;
#: ProtocolTransparent-vlan;    *: Management-vlan;
--------------------------------------------------------------------------------

VID  Type    Ports
--------------------------------------------------------------------------------
1    common  UT:GE0/0/1(U)
100  common  UT:GE0/0/2(D)
             TG:GE0/0/1(U)

VID  Status  Property      MAC-LRN Statistics Description
--------------------------------------------------------------------------------
1    enable  default       enable  disable    VLAN 0001
100  enable  default       enable  disable    users
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [{"model": "S5720-28X-SI-AC Routing Switch", "os_version": "5.170", "uptime_seconds": 1307040}],
    "interfaces": [
        {
            "name": "GigabitEthernet0/0/1",
            "description": "to core1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 9216,
            "mac_address": "02:00:00:00:08:01",
            "vlan_id": 1,
            "counters": (64000, 59000, 1, 2, 3, 4),
        },
        {
            "name": "GigabitEthernet0/0/2",
            "admin_status": "down",
            "oper_status": "down",
            "mtu": 9216,
            "mac_address": "02:00:00:00:08:02",
            "vlan_id": 100,
        },
        {
            "name": "Vlanif100",
            "description": "users",
            "admin_status": "up",
            "oper_status": "up",
            "mtu": 1500,
            "mac_address": "02:00:00:00:08:00",
            "ip_addresses": ("192.0.2.8/24",),
        },
    ],
    "neighbors": [
        {
            "local_interface": "GigabitEthernet0/0/1",
            "protocol": "lldp",
            "remote_system_name": "core1",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "GigabitEthernet0/0/24",
            "remote_port_description": "to access3",
            "remote_platform": "S5720-28X-SI-AC",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "router"),
        }
    ],
    "mac": [
        {
            "mac_address": "02:00:00:00:00:32",
            "vlan_id": 100,
            "interface": "GigabitEthernet0/0/1",
            "type": "dynamic",
        },
        {
            "mac_address": "02:00:00:00:00:33",
            "vlan_id": 100,
            "interface": "GigabitEthernet0/0/2",
            "type": "static",
        },
    ],
    "arp": [
        {
            "ip_address": "192.0.2.8",
            "mac_address": "02:00:00:00:08:00",
            "interface": "Vlanif100",
            "type": "self",
        },
        {
            "ip_address": "192.0.2.1",
            "mac_address": "02:00:00:00:00:aa",
            "interface": "GigabitEthernet0/0/1",
            "type": "dynamic",
        },
    ],
    "vlans": [
        {
            "vlan_id": 1,
            "name": "VLAN 0001",
            "status": "active",
            "untagged_interfaces": ("GigabitEthernet0/0/1",),
        },
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("GigabitEthernet0/0/1",),
            "untagged_interfaces": ("GigabitEthernet0/0/2",),
        },
    ],
}
