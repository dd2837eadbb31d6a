"""The provider's public keys (RFC 7517), and those of them that may have signed an id_token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey, import_key

SigningKey = RSAKey | ECKey | OKPKey
MAX_KEYS = 100
MIN_RSA_BITS = 2048  # RFC 7518 3.3
KEY_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


@dataclass(frozen=True, kw_only=True)
class KeySet:
    keys: tuple[tuple[str | None, SigningKey], ...] = ()

    @classmethod
    def parse(cls, document: Any) -> "KeySet":
        """Parse a JWKS document; leaves out everything but public signature keys, above all symmetric
        ones."""
        entries = document.get("keys") if isinstance(document, dict) else None
        found = []
        for entry in entries[:MAX_KEYS] if isinstance(entries, list) else ():
            key = _imported(entry)
            if key is not None:
                kid = entry.get("kid")
                found.append((kid if isinstance(kid, str) else None, key))
        return cls(keys=tuple(found))

    def candidates(self, kid: str | None, algorithm: str) -> Sequence[SigningKey]:
        """Return the key of that id; for a token without one all keys of the algorithm's type."""
        wanted = KEY_TYPES.get(algorithm[:2])
        return [
            key
            for known, key in self.keys
            if (kid is None or known == kid) and key.key_type == wanted and _fits(key, algorithm)
        ]


def _imported(entry: Any) -> SigningKey | None:
    if not isinstance(entry, dict) or entry.get("kty") not in ("RSA", "EC", "OKP"):
        return None
    if entry.get("use", "sig") != "sig" or "d" in entry:
        return None
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    try:
        key = import_key(dict(entry))
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    if not isinstance(key, RSAKey | ECKey | OKPKey):
        return None
    if isinstance(key, RSAKey) and key.public_key.key_size < MIN_RSA_BITS:
        return None
    return key


def _fits(key: SigningKey, algorithm: str) -> bool:
    named = key.as_dict(private=False).get("alg")
    return named is None or named == algorithm
