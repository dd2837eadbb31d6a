"""A switch with ArubaOS-Switch (ProCurve): HPE's management and traffic guides."""

from typing import Any

PROCURVE = {
    "show system": """\

 Status and Counters - General System Information

  System Name        : access1
  System Contact     :
  System Location    : building 7

  MAC Age Time (sec) : 300

  Time Zone          : 0
  Daylight Time Rule : None

  Software revision  : WB.16.10.0012        Base MAC Addr      : 020000-000500
  ROM Version        : WB.16.03             Serial Number      : SG00000001

  Up Time            : 41 days              Memory   - Total   : 339,853,312
  CPU Util (%)       : 11                              Free    : 214,556,672

""",
    "show modules": """\

 Status and Counters - Module Information

  Chassis: 2920-48G-PoE+ J9729A         Serial Number:   SG00000001

""",
    "show interfaces status": """\

  Port     Name       Status Config-mode   Speed    Type       Tagged Untagged
  -------- ---------- ------ ------------- -------- ---------- ------ --------
  1        to core1   Up     Auto          1000FDx  100/1000T  multi  1
  2                   Down   Auto          1000FDx  100/1000T  No     100
  Trk1     uplink     Up                                       multi  No

""",
    "show lldp info remote-device detail": """\

 LLDP Remote Device Information Detail

  Local Port   : 1
  ChassisType  : mac-address
  ChassisId    : 020000-0000aa
  PortType     : interface-name
  PortId       : Gi1/0/24
  SysName      : core1.example.net
  System Descr : Cisco IOS Software
  PortDescr    : to access1
  Pvid         : 1

  System Capabilities Supported  : bridge, router
  System Capabilities Enabled    : bridge, router

  Remote Management Address
     Type    : ipv4
     Address : 192.0.2.1

------------------------------------------------------------------------------
  Local Port   : 2
  ChassisType  : mac-address
  ChassisId    : 020000-0000ab
  PortType     : mac-address
  PortId       : 02 00 00 00 00 ab
  SysName      :
  System Descr :
  PortDescr    :
  Pvid         :

  System Capabilities Supported  :
  System Capabilities Enabled    :

  Remote Management Address

------------------------------------------------------------------------------
""",
    "show cdp neighbors detail": """\

 CDP neighbors information

""",
    "show mac-address": """\

 Status and Counters - Port Address Table

  MAC Address   Port   VLAN
  ------------- ------ ----
  020000-000032 2      100
  020000-000033 Trk1   1

""",
    "show arp": """\

 IP ARP table

  IP Address       MAC Address       Type    Port
  ---------------  ----------------- ------- ----
  192.0.2.1        020000-0000aa     dynamic 1

""",
    "show vlans": """\

 Status and Counters - VLAN Information

  Maximum VLANs to support : 256
  Primary VLAN : DEFAULT_VLAN
  Management VLAN :

  VLAN ID Name                             | Status     Voice Jumbo
  ------- -------------------------------- + ---------- ----- -----
  1       DEFAULT_VLAN                     | Port-based No    No
  100     users                            | Port-based No    No

""",
    "show vlans ports all detail": """\

 Status and Counters - VLAN Information - for ports 1

  Port name: to core1
  VLAN ID Name                 | Status     Voice Jumbo Mode
  ------- -------------------- + ---------- ----- ----- --------
  1       DEFAULT_VLAN         | Port-based No    No    Untagged
  100     users                | Port-based No    No    Tagged


 Status and Counters - VLAN Information - for ports 2

  VLAN ID Name                 | Status     Voice Jumbo Mode
  ------- -------------------- + ---------- ----- ----- --------
  100     users                | Port-based No    No    Untagged

""",
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "status": [
        {
            "sys_name": "access1",
            "model": "2920-48G-PoE+ J9729A",
            "os_version": "WB.16.10.0012",
            "serial_number": "SG00000001",
            "uptime_seconds": 3542400,
            "cpu_percent": 11.0,
            "chassis_ids": ("02:00:00:00:05:00",),
        }
    ],
    "interfaces": [
        {
            "name": "1",
            "admin_status": "up",
            "oper_status": "up",
            "speed_mbps": 1000,
            "duplex": "full",
            "vlan_id": 1,
        },
        {
            "name": "2",
            "admin_status": "up",
            "oper_status": "down",
            "speed_mbps": 1000,
            "duplex": "full",
            "vlan_id": 100,
        },
        {"name": "Trk1", "admin_status": "up", "oper_status": "up"},
    ],
    "neighbors": [
        {
            "local_interface": "1",
            "protocol": "lldp",
            "remote_system_name": "core1.example.net",
            "remote_chassis_id": "02:00:00:00:00:aa",
            "remote_port": "GigabitEthernet1/0/24",
            "remote_port_description": "to access1",
            "remote_platform": "Cisco IOS Software",
            "remote_mgmt_address": "192.0.2.1",
            "remote_capabilities": ("bridge", "router"),
        },
        {
            "local_interface": "2",
            "protocol": "lldp",
            "remote_chassis_id": "02:00:00:00:00:ab",
            "remote_port": "02:00:00:00:00:ab",
        },
    ],
    "mac": [
        {"mac_address": "02:00:00:00:00:32", "vlan_id": 100, "interface": "2"},
        {"mac_address": "02:00:00:00:00:33", "vlan_id": 1, "interface": "Trk1"},
    ],
    "arp": [
        {"ip_address": "192.0.2.1", "mac_address": "02:00:00:00:00:aa", "interface": "1", "type": "dynamic"}
    ],
    "vlans": [
        {"vlan_id": 1, "name": "DEFAULT_VLAN", "status": "active", "untagged_interfaces": ("1",)},
        {
            "vlan_id": 100,
            "name": "users",
            "status": "active",
            "tagged_interfaces": ("1",),
            "untagged_interfaces": ("2",),
        },
    ],
}
