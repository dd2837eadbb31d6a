"""The forms in which devices print what they are, and the members of their VLANs."""

from collections.abc import Mapping

from netautod_cli.blocks import Form, facts, lines

SWITCHPORT = Form(
    head=lines(r"^Name: *(?P<interface>\S+)"),
    suspect=lines(r"^Name:.*"),
    facts=facts(
        switchport=r"^ *Switchport: *(\w+)",
        mode=r"^ *Operational Mode: *(?!down)(.*\S)|^ *Administrative Mode: *(.*\S)",
        access_vlan=r"^ *Access Mode VLAN: *(\d+)",
        native_vlan=r"^ *Trunking Native Mode VLAN: *(\d+)",
        trunking_vlans=r"^ *Trunking VLANs (?:Enabled|Allowed): *((?:.*,\n)*.*)",
    ),
)
# "ae0.0*,tagged,trunk" with ELS, "ge-0/0/14.0, untagged, access" without.
JUNOS_VLANS = Form(
    head=lines(r"^VLAN(?: Name)?: *(?P<vlan_name>[^,\s]+)"),
    suspect=lines(r"^VLAN(?: Name)?:.*"),
    facts=facts(
        vlan_id=r"^ *(?:802\.1Q )?Tag: *(\d+)",
        status=r"\bState: *(\w+)",
    ),
    every=facts(
        tagged=r"^ +([^\s,]+?)\*?, *tagged\b",
        untagged=r"^ +([^\s,]+?)\*?, *untagged\b",
    ),
    needed="vlan_id",
)
_COMWARE_PORTS = r" *[Pp]orts *: *([^\n]*(?:\n {3,}[A-Z][^\n:]*)*)"
COMWARE_VLANS = Form(
    head=lines(r"^ *VLAN ID *: *(?P<vlan_id>\d+)"),
    suspect=lines(r"^ *VLAN ID\b.*"),
    facts=facts(vlan_name=r"^ *Name *: *(.*\S)"),
    every=facts(tagged=rf"^ *Tagged{_COMWARE_PORTS}", untagged=rf"^ *Untagged{_COMWARE_PORTS}"),
)
# "show vlans ports all detail": a table of VLANs for each port, the last column says how it is in them.
PROCURVE_PORTS = Form(
    head=lines(r"^ *Status and Counters - VLAN Information - for ports? (?P<port>\S+)"),
    suspect=lines(r"^ *Status and Counters\b.*"),
    facts={},
    every=facts(
        tagged=r"^ +(\d+) .*\bTagged *$",
        untagged=r"^ +(\d+) .*\bUntagged *$",
    ),
)
JUNOS_VERSION = Form(
    head=lines(r"^Hostname: *(?P<hostname>\S+)"),
    facts=facts(
        model=r"^Model: *(\S+)",
        junos_version=r"^Junos: *(\S+)|\[(\d{1,2}\.\d+[A-Z][\w.-]*)\]",
        serial_number=r"^Serial Number: *(\S+)",
    ),
)
COMWARE_VERSION = Form(
    head=lines(r"^.*Comware .*?Version (?P<version>\d[^\n]*\S)"),
    facts=facts(
        model=r"^(?:HPE?|H3C|Aruba)?\s*(\S.*?) uptime is",
        uptime=r"^.* uptime is (.*\S)",
    ),
    needed="model",
)
COMWARE_UNIT = Form(
    head=lines(r"^ *(?:Slot|Chassis)\b[^\n]*|^ *DEVICE_NAME"),
    facts=facts(
        model=r"^ *DEVICE_NAME *: *(.*\S)",
        serial_number=r"^ *(?:DEVICE_SERIAL_NUMBER|MANU SERIAL NUMBER) *: *(\S+)",
        chassis_mac=r"^ *MAC_ADDRESS *: *(\S+)",
    ),
    needed="serial_number",
)
PROCURVE_SYSTEM = Form(
    head=lines(r"^ *Status and Counters - General System Information"),
    facts=facts(
        hostname=r"^ *System Name +: *(\S.*?)(?:  |$)",
        version=r"\bSoftware revision +: *(\S+)",
        serial_number=r"\bSerial Number +: *(\S+)",
        chassis_mac=r"\bBase MAC Addr +: *(\S+)",
        uptime=r"\bUp Time +: *(\d+ \w+)",
        cpu_percent=r"\bCPU Util \(%\) +: *(\d+)",
    ),
)
PROCURVE_MODULES = Form(
    head=lines(r"^ *Chassis: *(?P<model>\S+(?: \S+)*)"),
    facts=facts(serial_number=r"Serial Number: *(\S+)"),
)
AOSCX_SYSTEM = Form(
    head=lines(r"^Hostname +: *(?P<hostname>\S+)"),
    facts=facts(
        model=r"^Product Name +: *(.*\S)",
        version=r"^(?:Aruba|A)OS-CX Version +: *(\S+)",
        serial_number=r"^Chassis Serial Nbr +: *(\S+)",
        chassis_mac=r"^Base MAC Address +: *(\S+)",
        uptime=r"^Up Time +: *(.*\S)",
        cpu_percent=r"^CPU Util \(%\) +: *(\d+)",
        memory_percent=r"^Memory Usage \(%\) +: *(\d+)",
    ),
)
FORMS: Mapping[tuple[str, str], Form] = {
    ("cisco_ios", "show interfaces switchport"): SWITCHPORT,
    ("cisco_nxos", "show interface switchport"): SWITCHPORT,
    ("arista_eos", "show interfaces switchport"): SWITCHPORT,
    ("juniper_junos", "show vlans extensive"): JUNOS_VLANS,
    ("hp_comware", "display vlan all"): COMWARE_VLANS,
    ("hp_procurve", "show vlans ports all detail"): PROCURVE_PORTS,
    ("juniper_junos", "show version"): JUNOS_VERSION,
    ("hp_comware", "display version"): COMWARE_VERSION,
    ("hp_comware", "display device manuinfo"): COMWARE_UNIT,
    ("hp_procurve", "show system"): PROCURVE_SYSTEM,
    ("hp_procurve", "show modules"): PROCURVE_MODULES,
    ("aruba_aoscx", "show system"): AOSCX_SYSTEM,
}
