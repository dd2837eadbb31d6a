"""Pages of devices: the list, one device, what is found by an address."""
