"""A router with IOS XR: Cisco's command references."""

from typing import Any

XR = {
    "show version": """\
Tue Mar  3 10:00:00.123 UTC
Cisco IOS XR Software, Version 7.3.2
Copyright (c) 2013-2021 by Cisco Systems, Inc.

Build Information:
 Built By     : builder
 Built On     : Wed Oct 13 20:00:36 PDT 2021
 Version      : 7.3.2
 Location     : /opt/cisco/XR/packages/
 Label        : 7.3.2

cisco ASR9K () processor
System uptime is 2 weeks 1 day 3 hours 4 minutes
""",
    "show interfaces": """\
Tue Mar  3 10:00:00.123 UTC
GigabitEthernet0/0/0/0 is up, line protocol is up
  Interface state transitions: 1
  Hardware is GigabitEthernet, address is 0200.0000.0201 (bia 0200.0000.0201)
  Description: to pe2
  Internet address is 198.51.100.1/30
  MTU 1514 bytes, BW 1000000 Kbit (Max: 1000000 Kbit)
     reliability 255/255, txload 0/255, rxload 0/255
  Encapsulation ARPA,
  Full-duplex, 1000Mb/s, SXFD, link type is force-up
     1000 packets input, 64000 bytes, 3 total input drops
     2 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored, 0 abort
     900 packets output, 59000 bytes, 4 total output drops
     1 output errors, 0 underruns, 0 applique, 0 resets
     0 output buffer failures, 0 output buffers swapped out

GigabitEthernet0/0/0/1 is administratively down, line protocol is administratively down
  Interface state transitions: 0
  Hardware is GigabitEthernet, address is 0200.0000.0202 (bia 0200.0000.0202)
  Internet address is Unknown
  MTU 1514 bytes, BW 1000000 Kbit
""",
    "show lldp neighbors detail": """\
Tue Mar  3 10:00:00.123 UTC
Capability codes:
        (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
        (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other

------------------------------------------------
Local Interface: GigabitEthernet0/0/0/0
Chassis id: 0200.0000.00bb
Port id: GigabitEthernet0/0/0/5
Port Description: to pe1
System Name: pe2.example.net

System Description:
 7.3.2, ASR9K

Time remaining: 92 seconds
Hold Time: 120 seconds
System Capabilities: R
Enabled Capabilities: R
Management Addresses:
  IPv4 address: 198.51.100.2

Peer MAC Address: 02:00:00:00:00:bb

Total entries displayed: 1
""",
    "show arp": """\
Tue Mar  3 10:00:00.123 UTC

-------------------------------------------------------------------------------
0/0/CPU0
-------------------------------------------------------------------------------
Address         Age        Hardware Addr   State      Type  Interface
198.51.100.1    -          0200.0000.0201  Interface  ARPA  GigabitEthernet0/0/0/0
198.51.100.2    00:31:12   0200.0000.00bb  Dynamic    ARPA  GigabitEthernet0/0/0/0
""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [{"model": "ASR9K", "os_version": "7.3.2", "uptime_seconds": 1307040}],
    "interfaces": [
        {
            "name": "GigabitEthernet0/0/0/0",
            "description": "to pe2",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "mtu": 1514,
            "mac_address": "02:00:00:00:02:01",
            "ip_addresses": ("198.51.100.1/30",),
            "counters": (64000, 59000, 2, 1, 3, 4),
        },
        {
            "name": "GigabitEthernet0/0/0/1",
            "admin_status": "down",
            "oper_status": "down",
            "speed_mbps": 1000,
            "mtu": 1514,
            "mac_address": "02:00:00:00:02:02",
        },
    ],
    "neighbors": [
        {
            "local_interface": "GigabitEthernet0/0/0/0",
            "protocol": "lldp",
            "remote_system_name": "pe2.example.net",
            "remote_chassis_id": "02:00:00:00:00:bb",
            "remote_port": "GigabitEthernet0/0/0/5",
            "remote_port_description": "to pe1",
            "remote_platform": "7.3.2, ASR9K",
            "remote_mgmt_address": "198.51.100.2",
            "remote_capabilities": ("router",),
        }
    ],
    "arp": [
        {
            "ip_address": "198.51.100.1",
            "mac_address": "02:00:00:00:02:01",
            "interface": "GigabitEthernet0/0/0/0",
            "type": "self",
        },
        {
            "ip_address": "198.51.100.2",
            "mac_address": "02:00:00:00:00:bb",
            "interface": "GigabitEthernet0/0/0/0",
            "type": "dynamic",
        },
    ],
}
