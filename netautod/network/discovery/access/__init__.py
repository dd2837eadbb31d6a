"""The ways that collectors are lent to a device: its SNMP agent, its command line, a subsystem, HTTPS."""
