"""BSON documents as bytes: where each ends, and what they are together, in whatever order."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

DIGEST_BYTES = 16
# An int32 of its length and a closing NUL (https://bsonspec.org/spec.html).
_LEAST = 5
_MODULUS = 1 << (8 * DIGEST_BYTES)


@dataclass(frozen=True, kw_only=True)
class Tally:
    """A count of documents and bytes, and the sum of the documents' hashes."""

    documents: int
    size: int
    digest: str


class Tallying:
    """A running tally of documents.

    The sum of the hashes (BLAKE2b, 128 bits each) does not depend on the order, in which a database is free.
    It finds what got lost or was changed by accident; against forgery there is the encryption.
    """

    def __init__(self) -> None:
        self._documents = 0
        self._size = 0
        self._sum = 0

    def add(self, documents: Iterable[bytes]) -> None:
        for document in documents:
            self._documents += 1
            self._size += len(document)
            hashed = hashlib.blake2b(document, digest_size=DIGEST_BYTES).digest()
            self._sum += int.from_bytes(hashed, "little")

    @property
    def tally(self) -> Tally:
        digest = (self._sum % _MODULUS).to_bytes(DIGEST_BYTES, "little").hex()
        return Tally(documents=self._documents, size=self._size, digest=digest)


def documents_in(content: bytes) -> Iterator[bytes]:
    """Yield the documents that stand one after the other; raises ValueError where that is not so."""
    begin, end = 0, len(content)
    while begin < end:
        length = int.from_bytes(content[begin : begin + 4], "little", signed=True)
        after = begin + length
        if length < _LEAST or after > end or content[after - 1]:
            raise ValueError("this is no sequence of BSON documents")
        yield content[begin:after]
        begin = after
