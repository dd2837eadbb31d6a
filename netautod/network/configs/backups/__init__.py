"""The state of backups: the last capture of each device, and devices without a recent good one."""
