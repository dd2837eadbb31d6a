"""A switch with Junos and ELS: Juniper's CLI reference."""

from typing import Any

JUNOS = {
    "show version": """\
Hostname: ex1
Model: ex4300-48t
Junos: 20.4R3.8
JUNOS OS Kernel 32-bit [20211117.c779bdc_builder_stable_11-204ab]
JUNOS Enterprise Edge EX Online Documentation [20.4R3.8]

{master:0}
""",
    "show interfaces": """\
Physical interface: ge-0/0/0, Enabled, Physical link is Up
  Interface index: 644, SNMP ifIndex: 513
  Description: to core1
  Link-level type: Ethernet, MTU: 1514, LAN-PHY mode, Speed: 1000mbps, Duplex: Full-Duplex, BPDU Error: None,
  Loopback: Disabled, Source filtering: Disabled, Flow control: Disabled, Auto-negotiation: Enabled
  Device flags   : Present Running
  Current address: 02:00:00:00:04:01, Hardware address: 02:00:00:00:04:01
  Last flapped   : 2021-12-01 10:00:00 UTC (2w1d 03:04 ago)
  Input rate     : 512 bps (0 pps)
  Output rate    : 0 bps (0 pps)

  Logical interface ge-0/0/0.0 (Index 328) (SNMP ifIndex 514)
    Flags: Up SNMP-Traps 0x4004000 Encapsulation: ENET2
    Input packets : 10
    Output packets: 20
    Protocol inet, MTU: 1500
      Flags: Sendbcast-pkt-to-re
      Addresses, Flags: Is-Preferred Is-Primary
        Destination: 192.0.2.0/24, Local: 192.0.2.2, Broadcast: 192.0.2.255
    Protocol inet6, MTU: 1500
      Addresses, Flags: Is-Preferred
        Destination: fe80::/64, Local: fe80::200:ff:fe00:401
      Addresses, Flags: Is-Default Is-Preferred Is-Primary
        Destination: 2001:db8::/64, Local: 2001:db8::2

Physical interface: ge-0/0/1, Administratively down, Physical link is Down
  Interface index: 645, SNMP ifIndex: 515
  Link-level type: Ethernet, MTU: 1514, LAN-PHY mode, Speed: Auto, Duplex: Auto, BPDU Error: None,
  Current address: 02:00:00:00:04:02, Hardware address: 02:00:00:00:04:02

  Logical interface ge-0/0/1.0 (Index 329) (SNMP ifIndex 516)
    Flags: Device-Down SNMP-Traps 0x4004000 Encapsulation: ENET2
    Protocol aenet, AE bundle: ae0.0

Physical interface: lo0, Enabled, Physical link is Up
  Interface index: 6, SNMP ifIndex: 6
  Type: Loopback, MTU: Unlimited

  Logical interface lo0.0 (Index 330) (SNMP ifIndex 16)
    Flags: SNMP-Traps Encapsulation: Unspecified
    Protocol inet, MTU: Unlimited
      Addresses, Flags: Is-Default Is-Primary
        Local: 203.0.113.9
""",
    "show lldp neighbors": """\
Local Interface    Parent Interface    Chassis Id          Port info          System Name
ge-0/0/0           -                   02:00:00:00:00:aa   GigabitEthernet1/0/24 core1.example.net
ge-0/0/7           -                   02:00:00:00:00:ab   02:00:00:00:00:ab

{master:0}
""",
    "show ethernet-switching table": """\

MAC flags (S - static MAC, D - dynamic MAC, L - locally learned, P - Persistent static
           SE - statistics enabled, NM - non configured MAC, R - remote PE MAC, O - ovsdb MAC)


Ethernet switching table : 2 entries, 2 learned
Routing instance : default-switch
    Vlan                MAC                 MAC         Age    Logical                NH        RTR
    name                address             flags              interface              Index     ID
    users               02:00:00:00:00:32   D             -   ge-0/0/5.0             0         0
    voice               02:00:00:00:00:33   DR            -   ae0.0                  0         0
    voice               02:00:00:00:00:34   S             -   ge-0/0/5.0             0         0

{master:0}
""",
    "show arp no-resolve": """\
MAC Address       Address         Interface         Flags
02:00:00:00:00:aa 192.0.2.1       ge-0/0/0.0               none
02:00:00:00:00:ae 192.0.2.7       irb.100 [ge-0/0/5.0]     permanent
Total entries: 2

{master:0}
""",
    "show vlans": """\

Routing instance        VLAN name             Tag          Interfaces
default-switch          default               1

default-switch          users                 100
                                                           ae0.0*
                                                           ge-0/0/5.0*
default-switch          voice                 200
                                                           ae0.0*
                                                           ge-0/0/5.0*

{master:0}
""",
    "show vlans extensive": """\

Routing instance: default-switch
VLAN Name: default                        State: Active
Tag: 1
Internal index: 2, Generation Index: 1, Origin: Static
Number of interfaces: Tagged 0    , Untagged 0
Total MAC count: 0

Routing instance: default-switch
VLAN Name: users                          State: Active
Tag: 100
Internal index: 3, Generation Index: 3, Origin: Static
Layer 3 interface: irb.100
Interfaces:
    ae0.0*,tagged,trunk
    ge-0/0/5.0*,untagged,access
Number of interfaces: Tagged 1    , Untagged 1
Total MAC count: 1

Routing instance: default-switch
VLAN Name: voice                          State: Active
Tag: 200
Interfaces:
    ae0.0*,tagged,trunk
    ge-0/0/5.0*,tagged,access
Number of interfaces: Tagged 2    , Untagged 0
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [{"sys_name": "ex1", "model": "ex4300-48t", "os_version": "20.4R3.8"}],
    "interfaces": [
        {
            "name": "ge-0/0/0",
            "description": "to core1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 1514,
            "mac_address": "02:00:00:00:04:01",
            "if_index": 513,
        },
        {
            "name": "ge-0/0/0.0",
            "admin_status": "up",
            "oper_status": "up",
            "mtu": 1500,
            "ip_addresses": ("192.0.2.2/24", "fe80::200:ff:fe00:401/64", "2001:db8::2/64"),
            "if_index": 514,
        },
        {
            "name": "ge-0/0/1",
            "admin_status": "down",
            "oper_status": "down",
            "duplex": "auto",
            "mtu": 1514,
            "mac_address": "02:00:00:00:04:02",
            "lag": "ae0",
            "if_index": 515,
        },
        {"name": "ge-0/0/1.0", "admin_status": "up", "oper_status": "down", "if_index": 516},
        {"name": "lo0", "admin_status": "up", "oper_status": "up", "if_index": 6},
        {
            "name": "lo0.0",
            "admin_status": "up",
            "oper_status": "up",
            "ip_addresses": ("203.0.113.9/32",),
            "if_index": 16,
        },
    ],
    "neighbors": [
        {
            "local_interface": "ge-0/0/0",
            "protocol": "lldp",
            "remote_system_name": "core1.example.net",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "GigabitEthernet1/0/24",
        },
        {
            "local_interface": "ge-0/0/7",
            "protocol": "lldp",
            "remote_chassis_id": "02:00:00:00:00:ab",
            "remote_port": "02:00:00:00:00:ab",
        },
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "ge-0/0/5.0", "type": "dynamic"},
        {"mac_address": "02:00:00:00:00:33", "vlan_id": 200, "interface": "ae0.0", "type": "dynamic"},
        {"mac_address": "02:00:00:00:00:34", "vlan_id": 200, "interface": "ge-0/0/5.0", "type": "static"},
    ],
    "arp": [
        {
            "ip_address": "192.0.2.1",
            "mac_address": "02:00:00:00:00:aa",
            "interface": "ge-0/0/0.0",
            "type": "dynamic",
        },
        {
            "ip_address": "192.0.2.7",
            "mac_address": "02:00:00:00:00:ae",
            "interface": "irb.100",
            "type": "static",
        },
    ],
    "vlans": [
        {"vlan_id": 1, "name": "default", "status": "active"},
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("ae0.0",),
            "untagged_interfaces": ("ge-0/0/5.0",),
        },
        {"vlan_id": 200, "name": "voice", "status": "active", "tagged_interfaces": ("ae0.0", "ge-0/0/5.0")},
    ],
}
