"""How texts are packed: compressed with zstd, before they are sealed or kept in memory."""

import zstandard

# 30 KB of a switch take about 1 ms and become a tenth; higher levels cost much and gain little.
LEVEL = 9
QUICK_LEVEL = 3


def packed(text: str, *, level: int = LEVEL) -> bytes:
    return zstandard.ZstdCompressor(level=level).compress(text.encode())


def unpacked(data: bytes) -> str:
    return unpacked_bytes(data).decode()


def unpacked_bytes(data: bytes) -> bytes:
    """The text in UTF-8."""
    return zstandard.ZstdDecompressor().decompress(data)
