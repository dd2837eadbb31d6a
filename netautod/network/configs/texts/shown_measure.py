"""The hash and the size of a redacted text: all that its readers get beside it."""

import hashlib
import hmac

from netautod.transport.ssh.encoding import to_bytes


def measured_as_shown(shown: str, key: bytes) -> tuple[str, int]:
    """Return the hash under a key of the organization and the size in bytes of a redacted text.

    The prefix keeps the hash apart from that of a normalised text.
    """
    data = to_bytes(shown)
    return hmac.new(key, b"as shown:" + data, hashlib.sha256).hexdigest(), len(data)
