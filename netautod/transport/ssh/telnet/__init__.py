"""Devices that are reached by telnet (RFC 854): nothing is encrypted, and no key says who answers."""
