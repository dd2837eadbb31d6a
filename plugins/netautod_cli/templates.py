"""The templates for tables whose rows are lines, where those of ntc-templates pass over lines.

They are in the language of TextFSM. Each knows its heading, and takes a row to the end of its line: a row
that was cut is none, and a text without the heading is no table. A template ignores the lines above the
heading.
"""

from collections.abc import Mapping

# Comware 5 and 7 (H3C, "display mac-address"): AGING is a word, or Y and N.
_COMWARE_MAC = r"""Value Required MAC_ADDRESS ([0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4})
Value VLAN_ID (\d+)
Value STATE (\S+(?: \S+)?)
Value INTERFACE (\S*\d\S*)

Start
  ^\s*(MAC|Mac) +(ADDR|Addr)\S*\s+VLAN -> Rows

Rows
  ^\s*${MAC_ADDRESS}\s+${VLAN_ID}\s+${STATE}\s+${INTERFACE}\s+\S+\s*$$ -> Record
  ^\s*-+\s*\d+ +mac
  ^\s*$$
  ^. -> Error
"""
# Static entries have no aging; the interface column holds VSIs and service instances, too.
_COMWARE_ARP = r"""Value Required IP_ADDRESS (\d+\.\d+\.\d+\.\d+)
Value MAC_ADDRESS ([0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4})
Value VLAN_ID (\S+)
Value INTERFACE (\S+)
Value TYPE (\S+)

Start
  ^\s*IP [Aa]ddress\s+MAC -> Rows

Rows
  ^\s*${IP_ADDRESS}\s+${MAC_ADDRESS}\s+${VLAN_ID}\s+${INTERFACE}\s+(?:\d+|N/A|--?)\s+${TYPE}\s*$$ -> Record
  ^\s*$$
  ^. -> Error
"""
# Names have blanks ("VLAN 0001"): the ports begin behind two of them. Those are of either kind; which,
# "display vlan all" says.
_COMWARE_VLANS = r"""Value Required VLAN_ID (\d+)
Value VLAN_NAME (\S+(?: \S+)*)
Value List PORTS (\S.*\S)

Start
  ^\s*VLAN ID\s+Name -> Rows

Rows
  ^\s{0,3}\d -> Continue.Record
  ^\s{0,3}${VLAN_ID}\s+${VLAN_NAME}\s*$$
  ^\s{0,3}${VLAN_ID}\s+${VLAN_NAME}\s{2,}${PORTS}\s*$$
  ^\s{4,}${PORTS}\s*$$
  ^\s*$$
  ^. -> Error
"""
# "*    145        000a.000a.000a   static     -        F      F    Po10"; the peer link is two words. An
# address of a group has several ports, in lines of their own as well. A Nexus 5000 with NX-OS 4 has the age
# alone between the type and the port, and notes of its own between the rows.
_NXOS_MAC = r"""Value Required VLAN_ID (\d+|-|--)
Value Required MAC_ADDRESS ([0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4})
Value TYPE (\S+)
Value List PORTS (vPC Peer-Link\S*|[^\s:](?:\S* \S+)*\S*)
Value AGE (\S+\s+[FT~-]+\s+[FT~-]+|\S+)

Start
  ^\s*VLAN(/BD)?\s+MAC Address\s+Type -> Rows

Rows
  ^\s*[^\s\d-]{0,4}\s*\S+\s+[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\. -> Continue.Record
  ^\s*[^\s\d-]{0,4}\s*${VLAN_ID}\s+${MAC_ADDRESS}\s+${TYPE}\s+${AGE}\s+${PORTS}\s*$$
  ^\s{30,}${PORTS}\s*$$
  ^\s*VLAN(/BD)?\s+MAC Address\s+Type
  ^\s*(Legend|Note):
  ^\s*(\*|age|\(T\)) - \S
  ^\s+.* - \S
  ^\s*-+[-+]*$$
  ^Unknown Key ID
  ^Total MAC Addresses
  ^\s*$$
  ^. -> Error
"""
# Of one VLAN or in older releases, the table has no column for the VLAN.
_PROCURVE_MAC = r"""Value Required MAC_ADDRESS ([0-9a-fA-F]{6}-[0-9a-fA-F]{6})
Value PORT (\S+)
Value VLAN_ID (\d+)

Start
  ^\s*MAC Address\s+(Located on )?Port\s+VLAN -> Rows
  ^\s*MAC Address\s+(Located on )?Port\s*$$ -> Ports

Rows
  ^\s*${MAC_ADDRESS}\s+${PORT}\s+${VLAN_ID}\s*$$ -> Record
  ^\s*-[-\s]*$$
  ^\s*$$
  ^. -> Error

Ports
  ^\s*${MAC_ADDRESS}\s+${PORT}\s*$$ -> Record
  ^\s*-[-\s]*$$
  ^\s*$$
  ^. -> Error
"""
# VRP 8 has VLAN/VSI/BD, and an age behind the type; older releases of VRP 5 columns of QinQ between.
_VRP_MAC = r"""Value Required DESTINATION_ADDRESS ([0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4})
Value VLAN_ID (\d+|-)
Value DESTINATION_PORT (\S+)
Value TYPE (\S+)

Start
  ^\s*MAC\s+Address\s+VLAN -> Rows

Rows
  ^\s*${DESTINATION_ADDRESS}\s+${VLAN_ID}/\S+\s+${DESTINATION_PORT}\s+${TYPE}(?:\s+(?:\d+|-))?\s*$$ -> Record
  ^\s*${DESTINATION_ADDRESS}\s+${VLAN_ID}(?:\s+\S+){2}\s+${DESTINATION_PORT}\s+${TYPE}\s+\S+\s*$$ -> Record
  ^\s*(VSI/SI|MAC\s+Address\s+VLAN|MAC address table of slot)
  ^\s*-+\s*$$
  ^\s*Total
  ^\s*$$
  ^. -> Error
"""
# Junos with and without ELS, and of a fabric, where a source stands in the place of the age.
_JUNOS_MAC = r"""Value Required VLAN_NAME (\S+)
Value Required MAC_ADDRESS ((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})
Value TYPE ([A-Z,]+|\S+)
Value LOGICAL_INTERFACE (\S+)

Start
  ^\s*Vlan\s+MAC\s+MAC\s+Age -> Rows
  ^\s*Vlan\s+MAC\s+MAC\s+Logical -> Fabric
  ^\s*VLAN\s+MAC address\s+Type -> Rows

Rows
  ^\s*${VLAN_NAME}\s+${MAC_ADDRESS}\s+${TYPE}\s+[\d-]\S*\s+${LOGICAL_INTERFACE}(?:\s+\S+){0,2}\s*$$ -> Record
  ^\s*\S+\s+\*\s+\S+\s+-\s+\S+\s*$$
  ^\s*(name\s+address|[Vv]lan\s+MAC|VLAN\s+MAC address)
  ^\s*(MAC\s+flags|[A-Z]{1,2} ?- ?\w|Ethernet[- ]switching table|Routing instance)
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error

Fabric
  ^\s*${VLAN_NAME}\s+${MAC_ADDRESS}\s+${TYPE}\s+${LOGICAL_INTERFACE}(?:\s+\S+){0,2}\s*$$ -> Record
  ^\s*(name\s+address|[Vv]lan\s+MAC)
  ^\s*(MAC\s+flags|[A-Z]{1,2} ?- ?\w|Ethernet[- ]switching table|Routing instance)
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error
"""
# Releases before 12 have no column for the aggregate; a neighbor may send no name.
_JUNOS_LLDP = r"""Value Required LOCAL_INTERFACE (\S+)
Value PARENT (\S+)
Value CHASSIS_ID ((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}|\S+)
Value NEIGHBOR_PORT_ID (\S+(?: \S+)*)
Value NEIGHBOR_NAME (\S+)

Start
  ^\s*Local [Ii]nterface\s+Parent [Ii]nterface\s+Chassis -> Rows
  ^\s*Local [Ii]nterface\s+Chassis -> Short

Rows
  ^${LOCAL_INTERFACE}\s+${PARENT}\s+${CHASSIS_ID}\s+${NEIGHBOR_PORT_ID}\s+${NEIGHBOR_NAME}\s*$$ -> Record
  ^${LOCAL_INTERFACE}\s+${PARENT}\s+${CHASSIS_ID}\s+${NEIGHBOR_PORT_ID}\s*$$ -> Record
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error

Short
  ^${LOCAL_INTERFACE}\s+${CHASSIS_ID}\s+${NEIGHBOR_PORT_ID}\s+${NEIGHBOR_NAME}\s*$$ -> Record
  ^${LOCAL_INTERFACE}\s+${CHASSIS_ID}\s+${NEIGHBOR_PORT_ID}\s*$$ -> Record
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error
"""
# A port that is down may have no mode, speed and type; a long name ends with "...".
_PROCURVE_PORTS = r"""Value Required PORT ([A-Za-z0-9][\w/.-]*)
Value NAME (\S.*?)
Value STATUS (Up|Down)
Value MODE (\S+)
Value SPEED (\S+)
Value TAGGED (No|multi|[\d,]+)
Value VLAN_ID (No|\d+)

Start
  ^\s*Port\s+Name\s+Status -> Rows

Rows
  ^\s*${PORT}\s+(?:${NAME}\s+)?${STATUS}\s+${TAGGED}\s+${VLAN_ID}\s*$$ -> Record
  ^\s*${PORT}\s+(?:${NAME}\s+)?${STATUS}\s+${MODE}\s+${TAGGED}\s+${VLAN_ID}\s*$$ -> Record
  ^\s*${PORT}\s+(?:${NAME}\s+)?${STATUS}\s+${MODE}\s+${SPEED}\s+\S+\s+${TAGGED}\s+${VLAN_ID}\s*$$ -> Record
  ^\s*-[-\s]*$$
  ^\s*$$
  ^. -> Error
"""
# "show arp all-vrfs": an address that was not found has no MAC address and no port.
_AOSCX_ARP = r"""Value Required IP_ADDRESS (\d+\.\d+\.\d+\.\d+)
Value MAC_ADDRESS (\S+)
Value PORT_ID (\S+)
Value PHYSICAL_PORT (\S+)
Value STATE ([a-z-]+)
Value VRF (\S+)

Start
  ^IPv4 +Address\s+MAC -> Rows

Rows
  ^${IP_ADDRESS}\s+${MAC_ADDRESS}\s+${PORT_ID}\s+${PHYSICAL_PORT}\s+${STATE}\s+${VRF}\s*$$ -> Record
  ^${IP_ADDRESS}\s+${PORT_ID}\s+${STATE}\s+${VRF}\s*$$ -> Record
  ^\s*-+\s*$$
  ^\s*Total
  ^\s*$$
  ^. -> Error
"""
# An interface of several ports names the one behind it: "irb.100 [ge-0/0/5.0]".
_JUNOS_ARP = r"""Value Required MAC_ADDRESS ((?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})
Value Required IP_ADDRESS (\d+\.\d+\.\d+\.\d+)
Value Required INTERFACE (\S+)
Value FLAGS ([a-z]\S*(?: \S+)*)

Start
  ^MAC Address\s+Address\s+Interface\s+Flags -> Rows

Rows
  ^${MAC_ADDRESS}\s+${IP_ADDRESS}\s+${INTERFACE}(?:\s+\[\S+\])?\s+${FLAGS}\s*$$ -> Record
  ^Total entries
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error
"""
# With ELS a member stands in each line, without it several do; members are units of interfaces.
_JUNOS_VLANS = r"""Value Required VLAN_NAME (\S+)
Value TAG (\d+)
Value List INTERFACES ((?:[^\s,]+\.\d+\*?(?:, *)?)+|None)

Start
  ^Routing instance\s+VLAN name\s+Tag -> Instances
  ^Name\s+Tag\s+Interfaces -> Names

Instances
  ^\S+\s+\S+ -> Continue.Record
  ^\S+\s+${VLAN_NAME}\s+(?:${TAG}|NA)\s*$$
  ^\S+\s+${VLAN_NAME}\s*$$
  ^\s+${INTERFACES}\s*$$
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error

Names
  ^\S+ -> Continue.Record
  ^${VLAN_NAME}\s+(?:${TAG}\s+)?${INTERFACES}\s*$$
  ^${VLAN_NAME}(?:\s+${TAG})?\s*$$
  ^\s+${INTERFACES}\s*$$
  ^\{\S+\}\s*$$
  ^\s*$$
  ^. -> Error
"""
# A VLAN that the switch made by itself is marked, and the mark is explained below the table.
_EOS_VLANS = r"""Value Required VLAN_ID (\d+)
Value VLAN_NAME (\S+)
Value STATUS (active|suspended)
Value List PORTS (\S.*\S|\S)

Start
  ^VLAN\s+Name\s+Status -> Rows

Rows
  ^\d+\*?\s -> Continue.Record
  ^${VLAN_ID}\*?\s+${VLAN_NAME}\s+${STATUS}\s*$$
  ^${VLAN_ID}\*?\s+${VLAN_NAME}\s+${STATUS}\s+${PORTS}\s*$$
  ^\s+${PORTS}\s*$$
  ^-[-\s]*$$
  ^\* indicates
  ^\s*$$
  ^. -> Error
"""
TEMPLATES: Mapping[tuple[str, str], str] = {
    ("arista_eos", "show vlan"): _EOS_VLANS,
    ("hp_comware", "display mac-address"): _COMWARE_MAC,
    ("hp_comware", "display arp"): _COMWARE_ARP,
    ("hp_comware", "display vlan brief"): _COMWARE_VLANS,
    ("cisco_nxos", "show mac address-table"): _NXOS_MAC,
    ("hp_procurve", "show mac-address"): _PROCURVE_MAC,
    ("hp_procurve", "show interfaces status"): _PROCURVE_PORTS,
    ("aruba_aoscx", "show arp all-vrfs"): _AOSCX_ARP,
    ("huawei_vrp", "display mac-address"): _VRP_MAC,
    ("juniper_junos", "show arp no-resolve"): _JUNOS_ARP,
    ("juniper_junos", "show vlans"): _JUNOS_VLANS,
    ("juniper_junos", "show lldp neighbors"): _JUNOS_LLDP,
    ("juniper_junos", "show ethernet-switching table"): _JUNOS_MAC,
}
