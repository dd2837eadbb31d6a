"""OpenSSH key revocation lists: revoked serial numbers by authority, in the form that `RevokedKeys` reads.

The form: PROTOCOL.krl in the sources of OpenSSH (header, one section of certificates for each authority, in
it serial numbers as lists, ranges and bitmaps). Pure; no database, no clock.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

MAGIC = b"SSHKRL\n\0"
FORMAT_VERSION = 1
CERTIFICATES = 1
SERIAL_LIST, SERIAL_RANGE, SERIAL_BITMAP = 0x20, 0x21, 0x22
NEAR = 64
"""Numbers that are no further apart share a bitmap: the bits between take less room than a number."""
WIDEST = 1 << 13  # OpenSSH reads bitmaps of at most 16,384 bits (SSHBUF_MAX_BIGNUM in sshbuf.h)
FEW = 3  # so many numbers are shorter as a list


def encoded(revoked: Mapping[bytes, Iterable[int]], *, version: int, generated: int) -> bytes:
    """Encode the list.

    `revoked`: serial numbers (from 1 on) by the public key blob of their authority. `version` grows with
    every change; `generated` in seconds since 1970.
    """
    header = MAGIC + struct.pack(">IQQQ", FORMAT_VERSION, version, generated, 0) + _string(b"") * 2
    sections = [_section(authority, sorted(set(serials))) for authority, serials in sorted(revoked.items())]
    return header + b"".join(sections)


def _section(authority: bytes, serials: Sequence[int]) -> bytes:
    if not serials:
        return b""
    runs = list(_runs(serials))
    single = [number for run in runs if len(run) <= FEW for number in run]
    parts = [_near(run) for run in runs if len(run) > FEW]
    if single:
        parts.append(_part(SERIAL_LIST, struct.pack(f">{len(single)}Q", *single)))
    return bytes([CERTIFICATES]) + _string(_string(authority) + _string(b"") + b"".join(parts))


def _runs(serials: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split the numbers where the next one is far away, and where a bitmap would be too wide."""
    start = 0
    for index in range(1, len(serials) + 1):
        if (
            index == len(serials)
            or serials[index] - serials[index - 1] > NEAR
            or serials[index] - serials[start] >= WIDEST
        ):
            yield serials[start:index]
            start = index


def _near(run: Sequence[int]) -> bytes:
    """Encode all numbers of a run: the two ends if none is missing, else one bit for each."""
    first, last = run[0], run[-1]
    if last - first + 1 == len(run):
        return _part(SERIAL_RANGE, struct.pack(">QQ", first, last))
    bits = bytearray((last - first) // 8 + 1)
    for number in run:
        bits[-1 - (number - first) // 8] |= 1 << (number - first) % 8
    # An mpint (RFC 4251 section 5): a leading zero keeps it from being negative.
    sign = b"\0" if bits[0] & 0x80 else b""
    return _part(SERIAL_BITMAP, struct.pack(">Q", first) + _string(sign + bytes(bits)))


def _part(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _string(content)


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content
