"""How backups stand: the last capture of each device, and devices without a good one."""
