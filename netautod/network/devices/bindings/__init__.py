"""Devices as synchronisations know and change them, and the inventories they are bound to."""
