"""Pages of devices: the list, one device with all that is known about it, and the actions on devices."""
