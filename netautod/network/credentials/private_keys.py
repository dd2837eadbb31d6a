"""Checks an SSH private key before it is stored: it must open with its passphrase, and at a bounded cost."""

import asyncio
import base64
import binascii
import re
from typing import Any

import asyncssh
from asyncssh.asn1 import ASN1DecodeError, der_decode

from netautod.core.errors import InvalidInput

# A key file says itself how much work opening it is. ssh-keygen uses 16 to 24 rounds of bcrypt, OpenSSL
# 2,048 of PBKDF2; these bounds are some seconds of work in a thread, which cannot be stopped.
MOST_BCRYPT_ROUNDS = 1_000
MOST_ITERATIONS = 2_000_000
OPENSSH_MAGIC = b"openssh-key-v1\0"
ARMOUR = re.compile(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----\s([^-]*(?:-[^-]+)*)-----END \1PRIVATE KEY-----")


async def check_private_key(key: str, passphrase: str | None) -> None:
    """Raise InvalidInput that names `secret` or `passphrase`. Opening a key takes its time: in a thread."""
    body = _decoded(key)
    if (body.startswith(OPENSSH_MAGIC) and _bcrypt_rounds(body) > MOST_BCRYPT_ROUNDS) or (
        body.startswith(b"0") and _largest_number(body) > MOST_ITERATIONS
    ):
        raise InvalidInput("secret: the private key needs too many rounds of its key derivation")
    await asyncio.to_thread(_open, key, passphrase)


async def opens_without_passphrase(key: str) -> bool:
    """Return whether the private key, which may be opened, is not encrypted."""
    try:
        await asyncio.to_thread(_open, key, None)
    except InvalidInput:
        return False
    return True


def _decoded(key: str) -> bytes:
    armoured = ARMOUR.fullmatch(key.strip())  # one key alone: what we look at is what will be opened
    if armoured is None:
        raise InvalidInput("secret: not a private key in OpenSSH or PEM form")
    # Old PEM keys have headers (Proc-Type, DEK-Info) before an empty line.
    text = re.split(r"\r?\n\r?\n", armoured[2])[-1]
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("secret: the private key is damaged") from error


def _bcrypt_rounds(body: bytes) -> int:
    """Return the bcrypt rounds of a key in OpenSSH's PROTOCOL.key: after the magic cipher, KDF name and KDF
    options (salt, rounds).
    """
    rest = body[len(OPENSSH_MAGIC) :]
    _, rest = _string(rest)
    name, rest = _string(rest)
    options, _ = _string(rest)
    if name == b"none":
        return 0
    _, rounds = _string(options)
    return int.from_bytes(rounds[:4], "big")


def _string(data: bytes) -> tuple[bytes, bytes]:
    end = 4 + int.from_bytes(data[:4], "big")
    return data[4:end], data[end:]


def _largest_number(body: bytes) -> int:
    """Return the largest number of an encrypted PKCS#8 key (its iteration count); 0 for one in the clear."""
    try:
        value: Any = der_decode(body)
    except ASN1DecodeError:
        return 0  # an old encrypted PEM key, which has no iteration count
    encrypted = isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple)
    return max(_numbers(value[0]), default=0) if encrypted else 0


def _numbers(value: Any) -> list[int]:
    if isinstance(value, tuple):
        return [number for item in value for number in _numbers(item)]
    return [value] if type(value) is int else []


def _open(key: str, passphrase: str | None) -> None:
    try:
        asyncssh.import_private_key(key, passphrase)
    except ValueError as error:  # KeyImportError and KeyEncryptionError, which differ by their texts alone
        reason = str(error).lower()
        if passphrase is None and "passphrase" in reason:
            raise InvalidInput("passphrase: the private key is encrypted and needs one") from error
        if "passphrase" in reason or "decrypt" in reason:
            raise InvalidInput("passphrase: does not open the private key") from error
        raise InvalidInput("secret: not a private key that can be used") from error
