"""Conditional requests (RFC 9110, 13): entity tags, If-Match for changes, If-None-Match for reads."""
