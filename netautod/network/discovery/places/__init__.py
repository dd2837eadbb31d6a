"""Locations of addresses: the port at the edge of the network before those that only lead there."""
