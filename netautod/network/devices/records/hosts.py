"""The check of the host of a device: an address or a host name, nothing that could mean more."""

import re
import socket

# RFC 1123 2.1 with the underscore that networks use; a label never begins with a hyphen.
LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
# `10.1`, `167772161` and `0x7f000001` are old spellings of IPv4 addresses that resolvers still accept.
NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
NAME_PATTERN = rf"^({LABEL.pattern}\.)*(?!({NUMBER.pattern})\.?$){LABEL.pattern}\.?$"


def is_host(text: str) -> bool:
    """Return whether the text is an IPv4 or IPv6 address (without brackets or zone) or a host name."""
    try:
        socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)
        return True
    except (OSError, ValueError):  # ValueError: NUL or a letter beyond ASCII
        labels = text.removesuffix(".").split(".")
    if len(text) > 253 or NUMBER.fullmatch(labels[-1]):
        return False
    return all(LABEL.fullmatch(label) for label in labels)
