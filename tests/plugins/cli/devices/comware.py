"""A switch with Comware 7: HPE's and H3C's command references."""

from typing import Any

COMWARE = {
    "display version": """\
HPE Comware Software, Version 7.1.070, Release 6308
Copyright (c) 2010-2020 Hewlett Packard Enterprise Development LP
HPE 5130-24G-4SFP+ EI Switch uptime is 0 weeks, 2 days, 3 hours, 4 minutes
Last reboot reason : Power on

Boot image: flash:/boot.bin
""",
    "display device manuinfo": """\
Slot 1 CPU 0:
DEVICE_NAME          : 5130-24G-4SFP+ EI JG932A
DEVICE_SERIAL_NUMBER : CN00000001
MAC_ADDRESS          : 0200-0000-0700
MANUFACTURING_DATE   : 2019-02-01
VENDOR_NAME          : HPE
""",
    "display interface": """\
GigabitEthernet1/0/1
Current state: UP
Line protocol state: UP
IP packet frame type: Ethernet II, hardware address: 0200-0000-0701
Description: to core1
Bandwidth: 1000000 kbps
Loopback is not set
Media type is twisted pair, port hardware type is 1000_BASE_T
1000Mbps-speed mode, full-duplex mode
Link speed type is autonegotiation, link duplex type is autonegotiation
Flow-control is not enabled
Maximum frame length: 10000
PVID: 1
MDI type: Automdix
Port link-type: Trunk
 VLAN Passing:   1(default vlan), 100
 VLAN permitted: 1(default vlan), 2-4094
Last clearing of counters: Never
 Last 300 seconds input: 0 packets/sec 30 bytes/sec 0%
 Last 300 seconds output: 0 packets/sec 40 bytes/sec 0%
 Input (total):  100 packets, 64000 bytes
         90 unicasts, 5 broadcasts, 5 multicasts, 0 pauses
 Input:  1 input errors, 0 runts, 0 giants, 0 throttles
 Output (total): 90 packets, 59000 bytes
         80 unicasts, 5 broadcasts, 5 multicasts, 0 pauses
 Output: 2 output errors, - underruns, - buffer failures

GigabitEthernet1/0/2
Current state: Administratively DOWN
Line protocol state: DOWN
IP packet frame type: Ethernet II, hardware address: 0200-0000-0702
Description: GigabitEthernet1/0/2 Interface
Bandwidth: 1000000 kbps
Unknown-speed mode, unknown-duplex mode
Maximum frame length: 10000
PVID: 100

Vlan-interface100
Current state: UP
Line protocol state: UP
Description: users
Bandwidth: 1000000 kbps
Maximum transmission unit: 1500
Internet address: 192.0.2.7/24 (Primary)
Internet address: 198.51.100.7/24 (Sub)
IP packet frame type: Ethernet II, hardware address: 0200-0000-0700
""",
    "display lldp neighbor-information verbose": """\
LLDP neighbor-information of port 1[GigabitEthernet1/0/1]:
LLDP agent nearest-bridge:
 LLDP neighbor index : 1
 Update time         : 0 days, 2 hours, 3 minutes, 4 seconds
 Chassis type        : MAC address
 Chassis ID          : 0200-0000-00aa
 Port ID type        : Interface name
 Port ID             : Ten-GigabitEthernet1/0/1
 Time to live        : 121
 Port description    : to access2
 System name         : core1
 System description  : HPE Comware Software
 System capabilities supported : Bridge, Router
 System capabilities enabled   : Bridge, Router
 Management address type           : IPv4
 Management address                : 192.0.2.1

 LLDP neighbor index : 2
 Chassis type        : MAC address
 Chassis ID          : 0200-0000-00ab
 Port ID type        : MAC address
 Port ID             : 0200-0000-00ab
""",
    "display mac-address": """\
MAC Address      VLAN ID    State            Port/Nickname            Aging
0200-0000-0032   100        Learned          GE1/0/1                  Y
0200-0000-0033   100        Config static    GE1/0/2                  N
""",
    "display arp": """\
  Type: S-Static   D-Dynamic   O-Openflow   R-Rule   M-Multiport  I-Invalid
IP address      MAC address    VLAN/VSI name Interface                Aging Type
192.0.2.1       0200-0000-00aa 100           GE1/0/1                  1175  D
192.0.2.9       0200-0000-00ae 100           GE1/0/2                  --    S
""",
    "display vlan brief": """\
Brief information about all VLANs:
Supported Minimum VLAN ID: 1
Supported Maximum VLAN ID: 4094
Default VLAN ID: 1
VLAN ID   Name                             Port
1         VLAN 0001                        GE1/0/1
100       users                            GE1/0/1  GE1/0/2
""",
    "display vlan all": """\
 VLAN ID: 1
 VLAN type: Static
 Route interface: Not configured
 Description: VLAN 0001
 Name: VLAN 0001
 Tagged ports:   None
 Untagged ports:
    GigabitEthernet1/0/1

 VLAN ID: 100
 VLAN type: Static
 Route interface: Configured
 IPv4 address: 192.0.2.7
 IPv4 subnet mask: 255.255.255.0
 Description: VLAN 0100
 Name: users
 Tagged ports:
    GigabitEthernet1/0/1
 Untagged ports:
    GigabitEthernet1/0/2

""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "model": "5130-24G-4SFP+ EI Switch",
            "os_version": "7.1.070, Release 6308",
            "serial_number": "CN00000001",
            "uptime_seconds": 183840,
            "chassis_ids": ("02:00:00:00:07:00",),
        }
    ],
    "interfaces": [
        {
            "name": "GigabitEthernet1/0/1",
            "description": "to core1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 10000,
            "mac_address": "02:00:00:00:07:01",
            "vlan_id": 1,
            "counters": (64000, 59000, 1, 2, None, None),
        },
        {
            "name": "GigabitEthernet1/0/2",
            "description": "GigabitEthernet1/0/2 Interface",
            "admin_status": "down",
            "oper_status": "down",
            "speed_mbps": 1000,
            "mtu": 10000,
            "mac_address": "02:00:00:00:07:02",
            "vlan_id": 100,
        },
        {
            "name": "Vlan-interface100",
            "description": "users",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "mtu": 1500,
            "mac_address": "02:00:00:00:07:00",
            "ip_addresses": ("192.0.2.7/24", "198.51.100.7/24"),
        },
    ],
    "neighbors": [
        {
            "local_interface": "GigabitEthernet1/0/1",
            "protocol": "lldp",
            "remote_system_name": "core1",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "Ten-GigabitEthernet1/0/1",
            "remote_port_description": "to access2",
            "remote_platform": "HPE Comware Software",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "router"),
        },
        {
            "local_interface": "GigabitEthernet1/0/1",
            "protocol": "lldp",
            "remote_chassis_id": "02:00:00:00:00:ab",
            "remote_port": "02:00:00:00:00:ab",
        },
    ],
    "mac": [
        {
            "mac_address": "02:00:00:00:00:32",
            "vlan_id": 100,
            "interface": "GigabitEthernet1/0/1",
            "type": "dynamic",
        },
        {
            "mac_address": "02:00:00:00:00:33",
            "vlan_id": 100,
            "interface": "GigabitEthernet1/0/2",
            "type": "static",
        },
    ],
    "arp": [
        {
            "ip_address": "192.0.2.1",
            "mac_address": "02:00:00:00:00:aa",
            "interface": "GigabitEthernet1/0/1",
            "type": "dynamic",
        },
        {
            "ip_address": "192.0.2.9",
            "mac_address": "02:00:00:00:00:ae",
            "interface": "GigabitEthernet1/0/2",
            "type": "static",
        },
    ],
    "vlans": [
        {
            "vlan_id": 1,
            "name": "VLAN 0001",
            "status": "active",
            "untagged_interfaces": ("GigabitEthernet1/0/1",),
        },
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("GigabitEthernet1/0/1",),
            "untagged_interfaces": ("GigabitEthernet1/0/2",),
        },
    ],
}
