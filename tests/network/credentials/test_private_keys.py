"""Private keys: which ones can be used, and those that would cost too much to open."""

import base64
import struct
from typing import Any

import asyncssh
import pytest
from asyncssh.asn1 import der_decode, der_encode
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from netautod.core.errors import InvalidInput
from netautod.network.credentials.private_keys import check_private_key

KEY = asyncssh.generate_private_key("ssh-ed25519")
RSA = asyncssh.generate_private_key("ssh-rsa", key_size=2048)


def _pem(*, passphrase: bytes | None) -> str:
    encryption = serialization.BestAvailableEncryption(passphrase) if passphrase else None
    made = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        encryption or serialization.NoEncryption(),
    )
    return made.decode()


@pytest.mark.parametrize(
    ("key", "passphrase"),
    [
        pytest.param(KEY.export_private_key().decode(), None, id="OpenSSH form"),
        pytest.param(KEY.export_private_key().decode().replace("\n", "\r\n"), None, id="Windows lines"),
        pytest.param(KEY.export_private_key().decode(), "needless", id="a passphrase that is not needed"),
        pytest.param(RSA.export_private_key("pkcs1-pem").decode(), None, id="old PEM form"),
        pytest.param(RSA.export_private_key("pkcs1-pem", "pass phrase").decode(), "pass phrase", id="sealed"),
        pytest.param(_pem(passphrase=None), None, id="PKCS#8"),
        pytest.param(_pem(passphrase=b"pass phrase"), "pass phrase", id="PKCS#8 with passphrase"),
    ],
)
async def test_a_usable_key(key: str, passphrase: str | None) -> None:
    await check_private_key(key, passphrase)


async def test_an_openssh_key_with_a_passphrase() -> None:
    key = KEY.export_private_key(passphrase="pass phrase").decode()
    await check_private_key(key, "pass phrase")
    with pytest.raises(InvalidInput, match="passphrase: does not open"):
        await check_private_key(key, "wrong")


def _bcrypt_key(rounds: int) -> str:
    def text(data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + data

    options = text(b"s" * 16) + struct.pack(">I", rounds)
    body = b"openssh-key-v1\0" + text(b"aes256-ctr") + text(b"bcrypt") + text(options)
    body += struct.pack(">I", 1) + text(b"public") + text(b"p" * 64)
    return _armoured("OPENSSH ", body)


def _armoured(kind: str, body: bytes) -> str:
    lines = base64.encodebytes(body).decode()
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}-----END {kind}PRIVATE KEY-----\n"


def _pbkdf2_key(iterations: int) -> str:
    """An encrypted PKCS#8 key with another iteration count: it never opens, and has to be refused before."""
    made: Any = der_decode(KEY.export_private_key("pkcs8-der", "pass phrase"))
    (scheme, ((kdf, (salt, _, prf)), cipher)), data = made
    return _armoured("ENCRYPTED ", der_encode(((scheme, ((kdf, (salt, iterations, prf)), cipher)), data)))


@pytest.mark.parametrize(
    ("key", "passphrase", "text"),
    [
        pytest.param("hunter2", None, "secret: not a private key", id="a password"),
        pytest.param(KEY.export_public_key().decode(), None, "secret: not a private key", id="public key"),
        pytest.param(_armoured("OPENSSH ", b"openssh-key-v1\0"), None, "secret:", id="cut off"),
        pytest.param(_armoured("", b"0"), None, "secret:", id="no structure"),
        pytest.param(_armoured("OPENSSH ", b"x" * 400), None, "secret:", id="no key inside"),
        pytest.param(
            "-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----", None, "damaged", id="no base64"
        ),
        pytest.param(KEY.export_private_key().decode() * 2, None, "secret:", id="two keys"),
        pytest.param(_pem(passphrase=b"right one"), None, "passphrase: the private key is", id="none given"),
        pytest.param(_pem(passphrase=b"right one"), "wrong", "passphrase: does not open", id="wrong one"),
        pytest.param(
            RSA.export_private_key("pkcs1-pem", "right").decode(),
            "wrong",
            "passphrase: does",
            id="wrong, old",
        ),
        pytest.param(_bcrypt_key(2**31), "x", "too many rounds", id="bcrypt for days"),
        pytest.param(_pbkdf2_key(2**31), "pass phrase", "too many rounds", id="PBKDF2 for hours"),
    ],
)
async def test_an_unusable_key(key: str, passphrase: str | None, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        await check_private_key(key, passphrase)
