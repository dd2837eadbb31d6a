"""How the backup of each device stands: what lists of devices are narrowed, sorted and counted by."""
