"""The pages of the manual and what stands in them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "netautod" / "manual"
README = "README.md"
UNRUN = ROOT / "tests" / "data" / "unrun_commands.toml"
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block: its language ("" if none is named) and its text without the indentation."""

    language: str
    text: str


@dataclass(frozen=True, kw_only=True)
class UnrunBlock:
    """A block of commands that no test runs, as `tests/data/unrun_commands.toml` lists it.

    `first_line` is the first line of the block or its beginning. `options` has commands that print help, each
    with the words of the block that stand in that help.
    """

    page: str
    first_line: str
    reason: str
    options: Mapping[str, list[str]] = field(default_factory=dict)


def page(name: str) -> str:
    """Return the text of a page by its path below `manual/`, such as `use/devices.md`, or of `README.md`."""
    return ((ROOT if name == README else MANUAL) / name).read_text(encoding="utf-8")


def pages() -> list[str]:
    """Return the paths of all pages below `manual/`, sorted."""
    return sorted(path.relative_to(MANUAL).as_posix() for path in MANUAL.rglob("*.md"))


def section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one of its level or above."""
    outside = _BLOCK.sub(lambda block: " " * len(block[0]), text)  # a comment in a block is no heading
    found = re.search(rf"^(#+) {re.escape(heading)}$", outside, re.M)
    assert found is not None, heading
    end = re.compile(rf"^#{{1,{len(found[1])}}} ", re.M).search(outside, found.end())
    return text[found.end() : end.start() if end else len(text)]


def blocks(text: str, language: str = "") -> list[Block]:
    """Return the fenced blocks of a text in order, only those of one language if it is given."""
    found = []
    for match in _BLOCK.finditer(text):
        lines = match["text"].splitlines(keepends=True)
        block = "".join(line.removeprefix(match["indent"]) for line in lines)
        if not language or match["language"] == language:
            found.append(Block(language=match["language"], text=block))
    return found


def unrun_blocks(page_name: str = "") -> list[UnrunBlock]:
    """Return the blocks that no test runs, only those of one page if it is given."""
    listed = [UnrunBlock(**block) for block in tomllib.loads(UNRUN.read_text(encoding="utf-8"))["block"]]
    return [block for block in listed if page_name in ("", block.page)]


def commands(page_name: str, text: str) -> list[str]:
    """Return the `sh` blocks of a page's text that a test runs, in order."""
    unrun = tuple(block.first_line for block in unrun_blocks(page_name))
    return [block.text for block in blocks(text, "sh") if not block.text.startswith(unrun)]
