"""The devices that are reached by telnet (RFC 854): nothing is encrypted, and no key proves the identity of
the device.
"""
