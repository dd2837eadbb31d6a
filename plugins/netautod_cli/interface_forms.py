"""The forms of `show interfaces` and its kin: the heads of interfaces, and the lines that are facts.

The names of facts are those of ntc-templates, as far as that has them; counters are `in_octets` and so on.
"""

from collections.abc import Mapping

from netautod_cli.blocks import Form, facts, lines

# "GigabitEthernet0/1 is up, line protocol is up (connected)"; NX-OS has no line protocol for ports.
_CISCO_HEAD = lines(
    r"^(?P<interface>\S+|Control Plane Interface) is (?P<link_status>[^,\n]*[^,\s])"
    r"(?:, *line protocol is (?P<protocol_status>[^\n]*\S))?,?[ \t]*$"
)
_CISCO_SUSPECT = lines(r"^(?!admin state)(?:\S+ is |\S.* is (?:administratively )?(?:up|down)\b).*")
_CISCO: Mapping[str, str] = {
    "mac_address": r"\baddress(?: is|:) +([0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})",
    "description": r"^ +(?:Port )?Description(?::| is) ?(.*\S)",
    "mtu": r"^ +(?:IP |Ethernet )?MTU (\d+)",
    "bandwidth": r"\bBW (\d+ *Kbit)",
    "duplex": r"^ +(?:Duplex )?(full|half|auto|a-full|a-half)\b[- ]?(?:duplex)?,",
    "speed": r"^ +(?:Duplex )?(?:full|half|auto|a-full|a-half|unknown)\b[- ]?(?:duplex)?, *([^,\n]+)",
    "vlan_id": r"^ +Encapsulation .*?\bVlan +ID +(\d+)",
    "bundle": r"^ +(?:Belongs to|Member of) (Po\S+)",
    "in_errors": r"(\d+) input errors?\b",
    "out_errors": r"(\d+) output errors?\b",
}
_CISCO_BYTES: Mapping[str, str] = {
    "in_octets": r"\d+ packets input, (\d+) bytes",
    "out_octets": r"\d+ packets output, (\d+) bytes",
}
_CISCO_EVERY = facts(
    ip_address=r"^ +(?:Internet address is|Secondary address(?: is)?) (\d+\.\d+\.\d+\.\d+/\d+)",
    aggregated_interfaces=r"^ +(?:Members in this (?:channel|bundle)|Member): +(.*)",
)
IOS = Form(
    head=_CISCO_HEAD,
    suspect=_CISCO_SUSPECT,
    facts=facts(
        **_CISCO,
        **_CISCO_BYTES,
        in_discards=r"Input queue: \d+/\d+/(\d+)/\d+ ",
        out_discards=r"Total output drops: (\d+)",
    ),
    every=_CISCO_EVERY,
)
XR = Form(
    head=_CISCO_HEAD,
    suspect=_CISCO_SUSPECT,
    facts=facts(
        **_CISCO,
        **_CISCO_BYTES,
        in_discards=r"(\d+) total input drops",
        out_discards=r"(\d+) total output drops",
    ),
    every=_CISCO_EVERY,
)
EOS = Form(
    head=_CISCO_HEAD,
    suspect=_CISCO_SUSPECT,
    facts=facts(
        **_CISCO,
        **_CISCO_BYTES,
        in_discards=r"(\d+) input discards?",
        out_discards=r"(\d+) output discards?",
    ),
    every=_CISCO_EVERY,
)
# The management port counts in two lines: "3093618 input packets 224819 unicast packets ...
# 549338 broadcast packets 267225622 bytes".
NXOS = Form(
    head=_CISCO_HEAD,
    suspect=_CISCO_SUSPECT,
    facts=facts(
        **_CISCO,
        admin_state=r"^ *admin state(?: is|:) (\w+)",
        vlan_access=r"^ +Access VLAN: (\d+)",
        in_octets=r"\d+ input packets[^\n]*?\n?[^\n]*? (\d+) bytes|\d+ frames input, (\d+) bytes",
        out_octets=r"\d+ output packets[^\n]*?\n?[^\n]*? (\d+) bytes|\d+ frames output, (\d+) bytes",
        in_discards=r"(\d+) input discard",
        out_discards=r"(\d+) output discard",
    ),
    every=_CISCO_EVERY,
)
# The units of a port are listed below it, and are interfaces of their own.
JUNOS = Form(
    head=lines(
        r"^Physical interface: (?P<interface>[^,\s]+)[^\n]*?, *(?P<admin_state>[^,\n]*), "
        r"Physical link is (?P<link_status>[^\n]*\S)"
        r"|^ +Logical interface (?P<unit>\S+)(?: \(Index \d+\))?(?: \(SNMP ifIndex (?P<if_index>\d+)\))?"
    ),
    suspect=lines(r"^ *(?:Physical|Logical) interface\b.*"),
    facts=facts(
        if_index=r"^ +Interface index: \d+, SNMP ifIndex: (\d+)",
        description=r"^ +Description: (.*\S)",
        mtu=r"\bMTU: (\d+)",
        speed=r"\bSpeed: (\d+ *[GMKT]?bps)",
        duplex=r"\b(?:Duplex|Link-mode): ([\w-]+)",
        mac_address=r"^ +Current address: ([0-9a-f:]{17})|^ +MAC: ([0-9a-f:]{17})",
        vlan_id=r"\bVLAN-Tag \[ 0x[0-9a-f]+\.(\d+) \]",
        bundle=r"\bAE bundle: ([^.,\s]+)",
        unit_flags=r"^ +Flags: (.*?)(?: +Encapsulation|$)",
        in_octets=r"^ +Input +bytes *: +(\d+)",
        out_octets=r"^ +Output +bytes *: +(\d+)",
        in_errors=r"\bInput errors: (\d+)|^ +Input errors:\s+Errors: (\d+)",
        out_errors=r"\bOutput errors: (\d+)|^ +Output errors:\s+Carrier transitions: \d+, Errors: (\d+)",
        in_discards=r"^ +Input errors:\s+Errors: \d+, Drops: (\d+)",
        out_discards=r"^ +Output errors:\s+Carrier transitions: \d+, Errors: \d+, Drops: (\d+)",
    ),
    every=facts(destinations=r"(?:\bDestination: ([^,\s]+), )?\bLocal: ([^,\s]+)"),
)
VRP = Form(
    head=lines(
        r"^(?P<interface>\S+) current state *: *(?P<link_status>[^\n,]*[^\s,])[^\n]*"
        r"(?:\nLine protocol current state *: *(?P<protocol_status>[^\n]*\S))?"
    ),
    suspect=lines(r"^\S+ current state\b.*"),
    facts=facts(
        description=r"^Description: *(.*\S)",
        mtu=r"The Maximum Transmit Unit is (\d+)",
        l2mtu=r"The Maximum Frame Length is (\d+)",
        mac_address=r"Hardware address is ([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})",
        speed=r"^(?:Port Mode: .*\n)?Speed *: *(\d+)",
        duplex=r"^Duplex *: *(\w+)",
        vlan_id=r"\bPVID *: *(\d+)",
        in_octets=r"^ *Input: *\d+ packets, *(\d+) bytes",
        out_octets=r"^ *Output: *\d+ packets, *(\d+) bytes",
        in_errors=r"^ *Input:(?:(?!\n *Output:)[\s\S])*?\bTotal Error: *(\d+)"
        r"|^ *Input: *\d+ packets.*\n.*\n *(\d+) errors",
        out_errors=r"^ *Output:[\s\S]*?\bTotal Error: *(\d+)|^ *Output: *\d+ packets.*\n.*\n *(\d+) errors",
        in_discards=r"^ *Input:(?:(?!\n *Output:)[\s\S])*?\bDiscard: *(\d+)",
        out_discards=r"^ *Output:[\s\S]*?\bDiscard: *(\d+)",
    ),
    every=facts(
        ip_address=r"Internet Address is (?:negotiated, |allocated by DHCP, )?(\d+\.\d+\.\d+\.\d+/\d+)"
    ),
)
# Comware 5: "GigabitEthernet1/0/1 current state: UP"; Comware 7: the name has a line of its own.
COMWARE = Form(
    head=lines(
        r"^ *(?P<interface>[A-Za-z]\S*?)(?: current state *|[ \t]*\n *Current state *): *"
        r"(?P<link_status>[^\n]*\S)(?:[^\n]*\n *Line protocol (?:current )?state: (?P<protocol_status>\S+))?"
    ),
    suspect=lines(r"^ *(?:\S+ )?[Cc]urrent state *:.*"),
    facts=facts(
        description=r"^ *Description: (.*\S)",
        mtu=r"Maximum Transmi\S+ Unit(?::| is) *(\d+)",
        l2mtu=r"Maximum frame length(?::| is) *(\d+)",
        mac_address=r"Hardware address: ([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})",
        bandwidth=r"^ *Bandwidth: (\d+ *kbps)",
        speed=r"^ *(\d+(?:\.\d+)? *[GMK](?:bps|b/s)?)(?:-speed mode)? *, *(?:full|half)",
        duplex=r"^ *\S+(?:-speed mode)? *, *(full|half|auto)",
        vlan_id=r"^ *PVID: (\d+)|^ *Untagged +VLANs?(?: ID)? *: *(\d+) *$",
        in_octets=r"^ *Input(?: \(total\))?:\s+\d+ packets, (\d+) bytes",
        out_octets=r"^ *Output(?: \(total\))?:\s+\d+ packets, (\d+) bytes",
        in_errors=r"(\d+) input errors|^ *Input:\s+\d+ packets, \d+ bytes\n.*\n *(\d+) errors",
        out_errors=r"(\d+) output errors|^ *Output:\s+\d+ packets, \d+ bytes\n.*\n *(\d+) errors",
        in_discards=r"^ *Input: *\d+ packets, \d+ bytes, (\d+) drops",
        out_discards=r"^ *Output: *\d+ packets, \d+ bytes, (\d+) drops",
    ),
    every=facts(ip_address=r"Internet address(?::| is) *(\d+\.\d+\.\d+\.\d+/\d+)"),
)
AOSCX = Form(
    head=lines(r"^ *(?:Interface|Aggregate) (?P<interface>\S+) is (?P<link_status>[^\n]*\S)"),
    suspect=lines(r"^ *(?:Interface|Aggregate) \S+ is\b.*"),
    facts=facts(
        admin_state=r"^ *Admin state is (\w+)",
        description=r"^ *Description: *(\S.*)",
        mtu=r"^ *MTU (\d+)",
        mac_address=r"\bMAC Address *: *(\S+)",
        duplex=r"^ *(full|half|auto)-duplex",
        speed=r"^ *Speed *:? *([1-9]\d* *[GMK]b/s)",
        vlan_mode=r"^ *VLAN Mode *: *(\S+)",
        vlan_access=r"^ *Access VLAN *: *(\d+)",
        vlan_native=r"^ *Native VLAN *: *(\d+)",
        trunking_vlans=r"^ *Allowed VLAN List *: *((?:.*,\n)*.*)",
        in_octets=r"^ *Bytes +(\d+) +\d+ +\d+|^ *Rx\n[\s\S]*?(\d+) total bytes",
        out_octets=r"^ *Bytes +\d+ +(\d+) +\d+|^ *Tx\n[\s\S]*?(\d+) total bytes",
        in_errors=r"^ *Errors +(\d+) +\d+ +\d+|^ *Rx\n[\s\S]*?(\d+) errors",
        out_errors=r"^ *Errors +\d+ +(\d+) +\d+|^ *Tx\n[\s\S]*?(\d+) errors",
        in_discards=r"^ *Dropped +(\d+) +\d+ +\d+|^ *Rx\n[\s\S]*?(\d+) dropped",
        out_discards=r"^ *Dropped +\d+ +(\d+) +\d+|^ *Tx\n[\s\S]*?(\d+) dropped",
    ),
    every=facts(
        ip_address=r"^ *IPv[46] address (\S+/\d+)",
        aggregated_interfaces=r"^ *Aggregated-interfaces *: *(.*)",
    ),
)
# The addresses of all kinds; a secondary one, and those of IPv6, are printed by these commands only.
IOS_IP = Form(
    head=_CISCO_HEAD,
    suspect=_CISCO_SUSPECT,
    facts={},
    every=facts(
        ip_address=r"^ +(?:Internet address is|Secondary address(?: is)?) (\d+\.\d+\.\d+\.\d+/\d+)",
        link_local=r"link-local address is ([0-9a-f:]+)",
        subnets=r"^ +([0-9a-f:]+), subnet is [0-9a-f:]+/(\d+)",
    ),
)
NXOS_IP = Form(
    head=lines(r"^(?P<interface>\S+), Interface status: \S+"),
    suspect=lines(r"^.*\bInterface status:.*"),
    facts={},
    every=facts(
        subnets=r"^ +IP address: (\S+), IP subnet: \S+/(\d+)",
        ip_address=r"^ +([0-9a-f]*:[0-9a-f:]+/\d+)(?: \[| *$)",
        link_local=r"^ +IPv6 (?:link-local )?address: (fe80:[0-9a-f:]+)",
    ),
)
FORMS: Mapping[tuple[str, str], Form] = {
    ("cisco_ios", "show interfaces"): IOS,
    ("cisco_nxos", "show interface"): NXOS,
    ("cisco_xr", "show interfaces"): XR,
    ("arista_eos", "show interfaces"): EOS,
    ("juniper_junos", "show interfaces"): JUNOS,
    ("huawei_vrp", "display interface"): VRP,
    ("hp_comware", "display interface"): COMWARE,
    ("aruba_aoscx", "show interface"): AOSCX,
    ("cisco_ios", "show ip interface"): IOS_IP,
    ("cisco_ios", "show ipv6 interface"): IOS_IP,
    ("cisco_nxos", "show ip interface vrf all"): NXOS_IP,
    ("cisco_nxos", "show ipv6 interface vrf all"): NXOS_IP,
}
