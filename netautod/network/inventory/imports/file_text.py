"""The text of an imported file: UTF-8, with or without byte order marks, read in parts."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager

from netautod.core.errors import InvalidInput

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def without_marks(body: bytes) -> bytes:
    """Return the body without the byte order marks at its start: a program that adds one to a file that has
    one already leaves two.
    """
    while body.startswith(codecs.BOM_UTF8):
        body = body.removeprefix(codecs.BOM_UTF8)
    return body


def open_text(body: bytes) -> io.TextIOWrapper:
    """Open the text; line ends are kept as they are. Read it within `decoding`."""
    if body.startswith(UTF_16):
        raise InvalidInput("The file is in UTF-16; save it as UTF-8")
    return io.TextIOWrapper(io.BytesIO(without_marks(body)), encoding="utf-8", newline="")


@contextmanager
def decoding() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise InvalidInput(f"The file is not in UTF-8 (byte 0x{wrong:02x}); save it as UTF-8") from error
