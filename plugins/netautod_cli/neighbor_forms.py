"""The forms in which devices print the details of their neighbors: one block for each, under a head that
names the port.
"""

from collections.abc import Mapping

from netautod_cli.blocks import Form, facts, lines

_BARE = r"(?!not advertised|- not advertised|null\b|--? *$)"  # what stands for a value that was not sent
# "Local Intf: Gi1/0/1" is missing in older releases of IOS; XR says "Local Interface: ...".
CISCO_LLDP = Form(
    head=lines(
        r"^(?:Local Int(?:f|erface): *(?P<local_interface>\S+)\n(?:(?!Chassis id)[^\n]*\n){0,6})?"
        r"Chassis id: *(?P<chassis_id>[^\n]*)"
    ),
    suspect=lines(r"^Chassis id\b.*"),
    facts=facts(
        local_interface=r"^Local Port id: *(\S+)",
        neighbor_port_id=rf"^Port id: *+{_BARE}(.*\S)",
        neighbor_interface_description=rf"^Port Description: *+{_BARE}(.*\S)",
        neighbor_name=rf"^System Name: *+{_BARE}(.*\S)",
        neighbor_description=rf"^System Description: *+\n? *+{_BARE}(?!Time remaining)(.*\S)",
        capabilities=rf"^Enabled Capabilities: *+{_BARE}(.*\S)",
        mgmt_address=r"^ +(?:IP|IPv4 address): *(\S+)|^Management Address: *(\d+\.\d+\.\d+\.\d+)",
        management_ipv6=r"^ +(?:IPv6|IPv6 address): *(\S+)|^Management Address(?: IPV6)?: *([0-9a-f]*:\S+)",
    ),
)
CISCO_CDP = Form(
    head=lines(r"^Device ID: *(?P<chassis_id>[^\n]*)"),
    suspect=lines(r"^Device ID\b.*"),
    facts=facts(
        neighbor_name=r"^(?:System Name|SysName *): *(\S.*)",
        platform=r"^Platform *: *(.*?) *, *Capabilities",
        capabilities=r"^Platform *:.*, *Capabilities *: *(.*\S)",
        local_interface=r"^Interface: *([^,\n]+)",
        neighbor_interface=r"Port ID \(outgoing port\): *(.*\S)",
        neighbor_description=r"^Version *: *\n+(.*\S)",
        mgmt_address=r"\bIP(?:v4)? address: *(\d+\.\d+\.\d+\.\d+)|\bIPv6 address: *([0-9a-f:]+)",
    ),
)
EOS_LLDP = Form(
    head=lines(
        r"^Interface (?P<local_interface>\S+) detected \d+ LLDP neighbors?:|^ +Neighbor (?P<seen>[^\n]+)"
    ),
    suspect=lines(r"^Interface \S+ detected\b.*"),
    carried="local_interface",
    needed="seen",
    facts=facts(
        chassis_id=r"^ +Chassis ID +: *(.*\S)",
        neighbor_interface=r'- Port ID type[^\n]*\n +Port ID +: *"?([^"\n]*[^"\s])',
        neighbor_interface_description=r'- Port Description: *"?([^"\n]*[^"\s])',
        neighbor_name=r'- System Name: *"?([^"\n]*[^"\s])',
        neighbor_description=r'- System Description: *"?([^"\n]*[^"\s])',
        capabilities=r"^ +Enabled Capabilities *: *(.*\S)",
        mgmt_address=r"Management Address +: *(\d+\.\d+\.\d+\.\d+)",
        management_ipv6=r"Management Address +: *([0-9a-f]+:\S+)",
    ),
)
# Releases from 10.08 on say System-Name and -Description for Chassis-Name and -Description.
AOSCX_LLDP = Form(
    head=lines(r"^Port +: *(?P<local_interface>\S+)|^Neighbor (?:Chassis|System)-Name +:(?P<seen>[^\n]*)"),
    suspect=lines(r"^Port +:.*"),
    carried="local_interface",
    needed="chassis_id",
    facts=facts(
        neighbor_name=r"^Neighbor (?:Chassis|System)-Name +: *(\S.*)",
        neighbor_description=r"^Neighbor (?:Chassis|System)-Description +: *(\S.*)",
        chassis_id=r"^Neighbor Chassis-ID +: *(\S.*)",
        mgmt_address=r"^Neighbor Management-Address +: *(\S+)",
        capabilities=r"^Chassis Capabilities Enabled +: *(\S.*)",
        neighbor_port_id=r"^Neighbor Port-ID +: *(\S.*)",
        neighbor_interface_description=r"^Neighbor Port-Desc +: *(\S.*)",
    ),
)
# Comware and VRP: the port stands above its neighbors, each of which has a number.
_NUMBERED = facts(
    chassis_id=r"^ *Chassis ID *: *(.*\S)",
    neighbor_port_id=r"^ *Port ID *: *(.*\S)",
    neighbor_interface_description=r"^ *Port description *: *+(?!--)(\S.*)",
    neighbor_name=r"^ *System name *: *+(?!--)(\S.*)",
    neighbor_description=r"^ *System description *: *+(?!--)(\S.*)",
    capabilities=r"^ *System capabilities enabled *: *+(?!--)(\S.*)",
    mgmt_address=r"^ *Management address(?: value)? *: *(\S+)",
)
COMWARE_LLDP = Form(
    head=lines(
        r"^ *LLDP neighbor-information of port \d+ *\[(?P<local_interface>[^\]\n]+)\]"
        r"|^ *(?:LLDP )?[Nn]eighbor index *: *(?P<seen>\d+)"
    ),
    suspect=lines(r"^ *LLDP neighbor-information of\b.*"),
    carried="local_interface",
    needed="seen",
    facts=_NUMBERED,
)
VRP_LLDP = Form(
    head=lines(
        r"^(?P<local_interface>\S+) +has +\d+ +neighbor[^\n]*"
        r"|^ *Neighbor index *: *(?P<seen>\d+)"
    ),
    suspect=lines(r"^\S+ +has\b.*neighbor.*"),
    carried="local_interface",
    needed="seen",
    facts=_NUMBERED,
)
FORMS: Mapping[tuple[str, str], Form] = {
    ("cisco_ios", "show lldp neighbors detail"): CISCO_LLDP,
    ("cisco_ios", "show cdp neighbors detail"): CISCO_CDP,
    ("cisco_nxos", "show lldp neighbors detail"): CISCO_LLDP,
    ("cisco_nxos", "show cdp neighbors detail"): CISCO_CDP,
    ("cisco_xr", "show lldp neighbors detail"): CISCO_LLDP,
    ("cisco_xr", "show cdp neighbors detail"): CISCO_CDP,
    ("arista_eos", "show lldp neighbors detail"): EOS_LLDP,
    ("aruba_aoscx", "show lldp neighbor-info detail"): AOSCX_LLDP,
    ("hp_comware", "display lldp neighbor-information verbose"): COMWARE_LLDP,
    ("huawei_vrp", "display lldp neighbor"): VRP_LLDP,
}
