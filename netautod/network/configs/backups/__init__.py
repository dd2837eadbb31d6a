"""The state of backups: the last capture of each device, lists and counts of it, and stale backups.

The fields stand in the documents of devices (queries.py). The service of devices only gives a new device its
first state (network/devices/records/documents.py), as the layer of devices is below this one.
"""
