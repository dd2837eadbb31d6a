"""The derivation of a key from a passphrase, by Argon2id.

The parameters are the second recommended option of RFC 9106 section 4 (64 MiB, three passes) with one lane,
because more lanes take the cores from the event loop. The caller stores them beside what it wraps.
"""

import unicodedata

from argon2.low_level import Type, hash_secret_raw

from netautod.secrets.vault.envelope import KEY_BYTES

MEMORY_KIB = 64 * 1024
PASSES = 3
LANES = 1
SALT_BYTES = 16


def passphrase_key(passphrase: str, *, salt: bytes, memory_kib: int, passes: int, lanes: int) -> bytes:
    """Derive 32 bytes from a passphrase; it takes about 0.1 s, for a thread: argon2-cffi releases the
    interpreter lock.
    """
    return hash_secret_raw(
        secret=unicodedata.normalize("NFKC", passphrase).encode(),
        salt=salt,
        time_cost=passes,
        memory_cost=memory_kib,
        parallelism=lanes,
        hash_len=KEY_BYTES,
        type=Type.ID,
    )
