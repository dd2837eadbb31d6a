"""Public keys that clients send with a login: which are accepted, and their OpenSSH form."""

import base64
import hashlib
from dataclasses import dataclass

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from netautod.core.errors import InvalidInput

PublicKey = Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey
ALGORITHMS = frozenset(
    {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}
)
RSA_BITS = range(3072, 16384 + 1)  # OpenSSH reads no larger one (SSHBUF_MAX_BIGNUM in sshbuf.h)
REFUSED = "public_key: an OpenSSH public key of type ed25519, ecdsa, or RSA with 3072 to 16384 bits is needed"


@dataclass(frozen=True, kw_only=True)
class ClientKey:
    """A key for which a certificate may be signed."""

    key: PublicKey
    fingerprint: str


def parse_public_key(text: str) -> ClientKey:
    """Parse one line as in `id_ed25519.pub`, comment allowed; raises InvalidInput for anything else."""
    parts = text.strip().split(" ", 2)
    # Not a certificate, no options before the key, no second line, no security key (its type differs).
    if len(parts) < 2 or parts[0] not in ALGORITHMS or not text.strip().isprintable():
        raise InvalidInput(REFUSED)
    try:
        blob = base64.b64decode(parts[1], validate=True)
        key = load_ssh_public_key(f"{parts[0]} {parts[1]}".encode("ascii"))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InvalidInput(REFUSED) from error
    if not isinstance(key, Ed25519PublicKey | EllipticCurvePublicKey | RSAPublicKey):
        raise InvalidInput(REFUSED)
    if isinstance(key, RSAPublicKey) and key.key_size not in RSA_BITS:
        raise InvalidInput(REFUSED)
    return ClientKey(key=key, fingerprint=fingerprint_of(blob))


def fingerprint_of(blob: bytes) -> str:
    """Return `SHA256:...` as `ssh-keygen -l` prints it; `blob` is the decoded second word of a public key
    line.
    """
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
