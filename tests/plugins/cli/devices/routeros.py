"""A router with RouterOS: MikroTik's manual."""

from typing import Any

ROUTEROS = {
    "/system resource print": """\
                   uptime: 2w1d3h4m5s
                  version: 6.48.6 (long-term)
               build-time: Dec/03/2021 12:15:05
         factory-software: 6.44
              free-memory: 40.2MiB
             total-memory: 64.0MiB
                      cpu: MIPS 24Kc V7.4
                cpu-count: 1
            cpu-frequency: 650MHz
                 cpu-load: 3%
           free-hdd-space: 1196.0KiB
          total-hdd-space: 16.0MiB
        architecture-name: mipsbe
               board-name: hEX PoE lite
                 platform: MikroTik

""",
    "/interface print terse without-paging": """\
 0  R  comment=to core1 name=ether1 default-name=ether1 type=ether mtu=1500 actual-mtu=1500 l2mtu=1598 \
max-l2mtu=2028 mac-address=02:00:00:00:09:01 last-link-up-time=mar/01/2022 10:00:00 link-downs=0
 1 X   name=ether2 default-name=ether2 type=ether mtu=1500 actual-mtu=1500 l2mtu=1598 max-l2mtu=2028 \
mac-address=02:00:00:00:09:02 link-downs=0

""",
    "/ip neighbor print detail": """\
 0 interface=ether1,bridge_local address=192.0.2.1 address4=192.0.2.1 mac-address=02:00:00:00:00:AA \
identity="core1" platform="MikroTik" version="6.48.6 (long-term)" unpack=none age=17s uptime=1w5d2h31m30s \
software-id="AAAA-BBBB" board="RB450Gx4" interface-name="ether5" \
system-description="MikroTik RouterOS 6.48.6 (long-term) RB450Gx4" system-caps=bridge,router \
system-caps-enabled=bridge,wlan-ap,router

""",
    "/interface bridge host print terse without-paging": """\
Flags: X - disabled, I - invalid, D - dynamic, L - local, E - external
 0   D  mac-address=02:00:00:00:00:32 vid=100 on-interface=ether2 bridge=bridge1 age=4s
 1   DL mac-address=02:00:00:00:09:02 on-interface=ether2 bridge=bridge1

""",
    "/ip arp print terse without-paging": """\
 0 DC address=192.0.2.1 mac-address=02:00:00:00:00:AA interface=ether1 published=no
 1    address=192.0.2.9 mac-address=02:00:00:00:00:AE interface=ether1 published=no

""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "model": "hEX PoE lite",
            "os_version": "6.48.6 (long-term)",
            "uptime_seconds": 1307045,
            "cpu_percent": 3.0,
        }
    ],
    "interfaces": [
        {
            "name": "ether1",
            "description": "to core1",
            "admin_status": "up",
            "oper_status": "up",
            "mtu": 1500,
            "mac_address": "02:00:00:00:09:01",
        },
        {
            "name": "ether2",
            "admin_status": "down",
            "oper_status": "down",
            "mtu": 1500,
            "mac_address": "02:00:00:00:09:02",
        },
    ],
    "neighbors": [
        {
            "local_interface": "ether1",
            "protocol": "lldp",
            "remote_system_name": "core1",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "ether5",
            "remote_platform": "RB450Gx4",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "wlanAccessPoint", "router"),
        }
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "ether2", "type": "dynamic"},
        {"mac_address": "02:00:00:00:09:02", "interface": "ether2", "type": "self"},
    ],
    "arp": [
        {
            "ip_address": "192.0.2.1",
            "mac_address": "02:00:00:00:00:aa",
            "interface": "ether1",
            "type": "dynamic",
        },
        {
            "ip_address": "192.0.2.9",
            "mac_address": "02:00:00:00:00:ae",
            "interface": "ether1",
            "type": "static",
        },
    ],
}
