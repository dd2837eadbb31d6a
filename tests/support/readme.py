"""Commands as the README prints them."""

import re
from pathlib import Path


def block_after(readme: Path, marker: str, language: str = "sh") -> str:
    """The first block of that language after the marker (a heading or a comment)."""
    _, found, rest = readme.read_text(encoding="utf-8").partition(marker)
    assert found, marker
    block = re.search(rf"```{language}\n(.*?)```", rest, re.DOTALL)
    assert block is not None, marker
    return block[1]
