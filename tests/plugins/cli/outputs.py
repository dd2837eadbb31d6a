"""The outputs of devices of our own making."""

VERSION = """\
Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E4, RELEASE SOFTWARE (fc2)
Technical Support: http://www.cisco.com/techsupport

ROM: Bootstrap program is C2960X boot loader

sw1 uptime is 1 week, 2 days, 3 hours, 4 minutes
System returned to ROM by power-on
System image file is "flash:/c2960x-universalk9-mz.152-7.E4.bin"

cisco WS-C2960X-24TS-L (APM86XXX) processor (revision A0) with 524288K bytes of memory.
Processor board ID FOC0000A0AA
Last reset from power-on

Configuration register is 0xF
"""
INTERFACES = """\
Vlan100 is up, line protocol is up
  Hardware is EtherSVI, address is 0200.0000.0064 (bia 0200.0000.0064)
  Internet address is 10.0.100.1/24
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
     reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, loopback not set
  Last input 00:00:00, output 00:00:00, output hang never
GigabitEthernet1/0/1 is up, line protocol is up (connected)
  Hardware is Gigabit Ethernet, address is 0200.0000.0001 (bia 0200.0000.0001)
  Description: to the core
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
     reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, loopback not set
  Keepalive set (10 sec)
  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX
  Last input 00:00:00, output 00:00:00, output hang never
GigabitEthernet1/0/2 is administratively down, line protocol is down (disabled)
  Hardware is Gigabit Ethernet, address is 0200.0000.0002 (bia 0200.0000.0002)
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
     reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, loopback not set
  Keepalive set (10 sec)
  Auto-duplex, Auto-speed, media type is 10/100/1000BaseTX
  Last input never, output never, output hang never
"""
SWITCHPORT = """\
Name: Gi1/0/1
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk
Administrative Trunking Encapsulation: dot1q
Operational Trunking Encapsulation: dot1q
Negotiation of Trunking: On
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 99 (native)
Administrative Native VLAN tagging: enabled
Voice VLAN: none
Trunking VLANs Enabled: 100,200
Pruning VLANs Enabled: 2-1001

Name: Gi1/0/2
Switchport: Enabled
Administrative Mode: static access
Operational Mode: down
Administrative Trunking Encapsulation: dot1q
Negotiation of Trunking: Off
Access Mode VLAN: 100 (users)
Trunking Native Mode VLAN: 1 (default)
Administrative Native VLAN tagging: enabled
Voice VLAN: none
Trunking VLANs Enabled: ALL
Pruning VLANs Enabled: 2-1001
"""
LLDP = """\
------------------------------------------------
Local Intf: Gi1/0/1
Chassis id: 0200.0000.00aa
Port id: Gi0/1
Port Description: GigabitEthernet0/1
System Name: core.example.net

System Description:
Cisco IOS Software, C3560 Software, Version 15.0(2)SE

Time remaining: 101 seconds
System Capabilities: B,R
Enabled Capabilities: B,R
Management Addresses:
    IP: 10.0.0.1
Auto Negotiation - not supported
Physical media capabilities - not advertised
Media Attachment Unit type - not advertised
Vlan ID: - not advertised


Total entries displayed: 1
"""
LLDP_LIST = """\
Capability codes:
    (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
    (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other

Device ID           Local Intf     Hold-time  Capability      Port ID
core.example.net    Gi1/0/1        120        B,R             Gi0/1

Total entries displayed: 1

"""
CDP = """\
-------------------------
Device ID: core.example.net
Entry address(es):
  IP address: 10.0.0.1
Platform: cisco WS-C3560,  Capabilities: Router Switch IGMP
Interface: GigabitEthernet1/0/1,  Port ID (outgoing port): GigabitEthernet0/1
Holdtime : 132 sec

Version :
Cisco IOS Software, C3560 Software, Version 15.0(2)SE

advertisement version: 2
Management address(es):
  IP address: 10.0.0.1

"""
MAC = """\
          Mac Address Table
-------------------------------------------

Vlan    Mac Address       Type        Ports
----    -----------       --------    -----
 100    0200.0000.0032    DYNAMIC     Gi1/0/1
 200    0200.0000.0033    STATIC      Gi1/0/2
Total Mac Addresses for this criterion: 2
"""
ARP = """\
Protocol  Address          Age (min)  Hardware Addr   Type   Interface
Internet  10.0.100.7              3   0200.0000.0007  ARPA   Vlan100
Internet  10.0.100.1              -   0200.0000.0064  ARPA   Vlan100
"""
VLAN = """\
VLAN Name                             Status    Ports
---- -------------------------------- --------- -------------------------------
1    default                          active
100  users                            active    Gi1/0/2
200  phones                           suspended

VLAN Type  SAID       MTU   Parent RingNo BridgeNo Stp  BrdgMode Trans1 Trans2
---- ----- ---------- ----- ------ ------ -------- ---- -------- ------ ------
1    enet  100001     1500  -      -      -        -    -        0      0
"""
IP = """\
Vlan100 is up, line protocol is up
  Internet address is 10.0.100.1/24
  Broadcast address is 255.255.255.255
  Secondary address 10.0.101.1/24
GigabitEthernet1/0/1 is up, line protocol is up
  Inbound  access list is not set
"""
IPV6 = """\
Vlan100 is up, line protocol is up
  IPv6 is enabled, link-local address is FE80::1
  No Virtual link-local address(es):
  Global unicast address(es):
    2001:DB8:100::1, subnet is 2001:DB8:100::/64
  Joined group address(es):
    FF02::1
"""
IOS = {
    "show version": VERSION,
    "show interfaces": INTERFACES,
    "show interfaces switchport": SWITCHPORT,
    "show lldp neighbors detail": LLDP,
    "show lldp neighbors": LLDP_LIST,
    "show cdp neighbors detail": CDP,
    "show mac address-table": MAC,
    "show ip interface": IP,
    "show ipv6 interface": IPV6,
    "show ip arp": ARP,
    "show vlan": VLAN,
}
LINUX = {
    "cat /etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n',
    "uname -a": "Linux host1 6.1.0-18-amd64 #1 SMP x86_64 GNU/Linux\n",
    "cat /proc/uptime": "12345.67 23456.78\n",
    "hostname": "host1\n",
    "ip -json -s -d address show": """[
 {"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"operstate":"UNKNOWN",
  "link_type":"loopback","address":"00:00:00:00:00:00",
  "addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8}]},
 {"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"master":"bond0",
  "operstate":"UP","link_type":"ether","address":"02:00:00:00:00:01","ifalias":"uplink","addr_info":[],
  "stats64":{"rx":{"bytes":10,"errors":1,"dropped":2},"tx":{"bytes":20,"errors":3,"dropped":4}}},
 {"ifindex":3,"ifname":"bond0","flags":["UP"],"mtu":1500,"operstate":"UP","link_type":"ether",
  "address":"02:00:00:00:00:01","linkinfo":{"info_kind":"bond"},"addr_info":[]},
 {"ifindex":4,"ifname":"bond0.7","flags":[],"mtu":1500,"operstate":"DOWN","link_type":"ether",
  "address":"02:00:00:00:00:01","linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":7}},
  "addr_info":[{"family":"inet6","local":"2001:db8::1","prefixlen":64}]}]
""",
    "ip -json neigh show": """[
 {"dst":"10.0.0.1","dev":"eth0","lladdr":"02:00:00:00:00:aa","state":["REACHABLE"]},
 {"dst":"10.0.0.2","dev":"eth0","state":["FAILED"]},
 {"dst":"2001:db8::2","dev":"eth0","lladdr":"02:00:00:00:00:ab","state":["PERMANENT"]}]
""",
    "bridge -json fdb show": """[
 {"mac":"02:00:00:00:00:50","ifname":"veth1","vlan":7,"master":"br0","state":""},
 {"mac":"33:33:00:00:00:01","ifname":"eth0","flags":["self"],"state":"permanent"},
 {"mac":"02:00:00:00:00:51","ifname":"br0","master":"br0","state":"permanent"}]
""",
    "bridge -json vlan show": """[
 {"ifname":"veth1","vlans":[{"vlan":1,"flags":["PVID","Egress Untagged"]},{"vlan":7,"vlanEnd":9}]},
 {"ifname":"veth2","vlans":[{"vlan":7,"flags":["PVID","Egress Untagged"]}]}]
""",
    "lldpctl -f json0": """{"lldp":[{"interface":[{"name":"eth0","via":"LLDP","chassis":[{
  "id":[{"type":"mac","value":"02:00:00:00:00:aa"}],"name":[{"value":"core"}],"descr":[{"value":"a switch"}],
  "mgmt-ip":[{"value":"2001:db8::9"},{"value":"10.0.0.9"}],
  "capability":[{"type":"Bridge","enabled":true},{"type":"Tel","enabled":true},{"type":"Wlan","enabled":false},{"type":"Router","enabled":false}]}],
  "port":[{"id":[{"type":"ifname","value":"ge1"}],"descr":[{"value":"to host1"}]}]}]}]}
""",
}
