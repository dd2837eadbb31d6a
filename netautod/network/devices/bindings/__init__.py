"""What synchronisations know and change of devices, and the inventories they are bound to."""
