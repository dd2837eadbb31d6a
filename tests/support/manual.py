"""The pages of the manual and what stands in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "netautod" / "manual"
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block: its language ("" if none is named) and its text without the indentation."""

    language: str
    text: str


def page(name: str) -> str:
    """Return the text of a page by its path below `manual/`, such as `use/devices.md`."""
    return (MANUAL / name).read_text(encoding="utf-8")


def pages() -> list[str]:
    """Return the paths of all pages below `manual/`, sorted."""
    return sorted(path.relative_to(MANUAL).as_posix() for path in MANUAL.rglob("*.md"))


def section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.M)
    assert found is not None, heading
    return re.split(rf"^#{{1,{len(found[1])}}} ", text[found.end() :], maxsplit=1, flags=re.M)[0]


def blocks(text: str, language: str = "") -> list[Block]:
    """Return the fenced blocks of a text in order, only those of one language if it is given."""
    found = []
    for match in _BLOCK.finditer(text):
        lines = match["text"].splitlines(keepends=True)
        block = "".join(line.removeprefix(match["indent"]) for line in lines)
        if not language or match["language"] == language:
            found.append(Block(language=match["language"], text=block))
    return found
