"""The backup state of each device, by which lists of devices are narrowed, sorted and counted."""
