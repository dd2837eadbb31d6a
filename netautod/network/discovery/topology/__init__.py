"""The topology from the neighbor tables of all devices: which devices are connected, and over which
interfaces.
"""
