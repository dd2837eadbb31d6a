"""Where an address is: the port at the edge of the network before those that only lead there."""
