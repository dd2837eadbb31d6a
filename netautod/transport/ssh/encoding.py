"""The conversion of device output from bytes to text without loss: UTF-8, or Latin-1 as a whole if it is not
UTF-8.

Inside, a text carries each byte that is not UTF-8 as a lone surrogate (PEP 383), so that the bytes come back
from it, whatever lines were removed meanwhile. No user ever sees such a text: it is made `readable` before it
is answered, logged or stored as text, or it is stored as bytes.
"""

from typing import Literal

Encoding = Literal["utf-8", "latin-1"]
_CARRIED = "".join(chr(0xDC00 + byte) for byte in range(0x80, 0x100))
_LONGEST_CHARACTER = 4  # bytes, in UTF-8


def to_text(data: bytes) -> str:
    """Return the text that carries these bytes."""
    return data.decode("utf-8", errors="surrogateescape")


def to_bytes(text: str) -> bytes:
    """Return the bytes that a text carries."""
    return text.encode("utf-8", errors="surrogateescape")


def encoding_of(text: str) -> Encoding:
    """Return the encoding by which `readable` decodes the bytes that the text carries."""
    if text.isascii():
        return "utf-8"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "latin-1"
    return "utf-8"


def readable_beginning(text: str) -> str:
    """Return the readable form of a text that was cut off anywhere: half a character at its end is
    left out.
    """
    whole = text.rstrip(_CARRIED)
    halved = len(text) - len(whole) < _LONGEST_CHARACTER and encoding_of(whole) == "utf-8"
    return readable(whole if halved else text)


def readable(text: str, encoding: Encoding | None = None) -> str:
    """Return the text as people read it. `encoding`: of a piece of a larger text, that of the whole."""
    encoding = encoding or encoding_of(text)
    return text if encoding == "utf-8" or text.isascii() else to_bytes(text).decode(encoding)
