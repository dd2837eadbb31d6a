"""Pages of devices: the list, one device with all that is known of it, and what is done with them."""
