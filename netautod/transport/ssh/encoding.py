"""The conversion of device output from bytes to text without loss: UTF-8, or Latin-1 as a whole if it is not
UTF-8.

Inside, a text carries each byte that is not UTF-8 as a lone surrogate (PEP 383), so that the bytes come back
from it, whatever lines were removed meanwhile. No user ever sees such a text: it is made `readable` before it
is answered, logged or stored as text, or it is stored as bytes.
"""

import re
from typing import Literal

Encoding = Literal["utf-8", "latin-1"]
_CARRIED = "".join(chr(0xDC00 + byte) for byte in range(0x80, 0x100))
_LONGEST_CHARACTER = 4  # bytes, in UTF-8
# ECMA-48, 5.3: escape sequences in their 8-bit forms, within one line; and what is left of C1 by itself.
_CSI = r"\x9b[0-?]*[ -/]*[@-~]"
_STRING = r"[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
_C1 = re.compile(rf"{_CSI}|{_STRING}|[\x80-\x9f]")


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


def readable_output(text: str) -> str:
    """Return the output of a command as people read it, without the controls of C1.

    They stand for escape sequences, which it has not either. In Latin-1 they are single bytes, which only the
    encoding separates from letters.
    """
    return without_c1(readable(text))


def without_c1(text: str) -> str:
    return text if text.isascii() else _C1.sub("", text)
