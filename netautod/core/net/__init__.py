"""Addresses, networks and names of interfaces."""
