"""Packing of texts: compressed with zstd, before they are sealed or kept in memory.

Small texts compress badly by themselves, so the compression starts from a dictionary of lines that are common
on network devices. Packed texts begin with the number of their dictionary. A released dictionary never
changes, or its texts could not be read any more: a better one gets a new number.
"""

from functools import cache
from importlib.resources import files

import zstandard

from netautod.transport.ssh.encoding import to_bytes, to_text

# 30 KB of a switch take about 1 ms and become a tenth; higher levels cost much and gain little.
LEVEL = 9
QUICK_LEVEL = 3
DICTIONARY = 1  # the one for new texts
NO_DICTIONARY = 0


def packed(text: str) -> bytes:
    """Pack a text small, for storage: the bytes that the text carries."""
    compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=_dictionary(DICTIONARY))
    return bytes([DICTIONARY]) + compressor.compress(to_bytes(text))


def quickly_packed(text: str) -> bytes:
    """Pack a text larger, but so that it is unpacked in a third of the time."""
    return bytes([NO_DICTIONARY]) + zstandard.ZstdCompressor(level=QUICK_LEVEL).compress(to_bytes(text))


def unpacked(data: bytes) -> str:
    return to_text(unpacked_bytes(data))


def unpacked_bytes(data: bytes) -> bytes:
    """Return the bytes of the text."""
    number, content = data[0], memoryview(data)[1:]
    if number == NO_DICTIONARY:
        return zstandard.ZstdDecompressor().decompress(content)
    return zstandard.ZstdDecompressor(dict_data=_dictionary(number)).decompress(content)


def unpacked_size(data: bytes) -> int:
    """Return the size of the text in bytes, without unpacking it."""
    return max(zstandard.frame_content_size(data[1:19]), len(data))


@cache
def _dictionary(number: int) -> zstandard.ZstdCompressionDict:
    content = files("netautod.network.configs.texts").joinpath(f"dictionaries/{number}.txt").read_bytes()
    made = zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    if number == DICTIONARY:
        made.precompute_compress(level=LEVEL)  # once, else for every text: 0.2 ms of 0.4 for 30 KB
    return made
