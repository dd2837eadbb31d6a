"""A copy of the checkout in which a recipe of the manual is followed: its blocks applied, its commands run.

A block whose first line is `# path` is a new file, or with the language `diff` a change of one: the lines
with a blank or a minus before them stand there once, and those with a blank or a plus take their place. `@@`
begins the next change of the same file. A block of `sh` is run in the copy.
"""

import ast
import asyncio
import re
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.support.programs.service import environment

ROOT = Path(__file__).parents[2]
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info", ".git", ".venv", ".*_cache", "build")
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    language: str
    text: str


def blocks(part: str) -> list[Block]:
    """Return the blocks of a page in order, without the indentation of the step that they stand in."""
    return [Block(language=language, text=dedent(text)) for language, text in _BLOCK.findall(part)]


class Checkout:
    """`.venv` in it is the one that runs the tests; its own code goes before what is installed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.applied: list[Path] = []
        shutil.copytree(ROOT, folder, ignore=IGNORED)
        (folder / ".venv").symlink_to(sys.prefix)

    def apply(self, block: Block) -> None:
        head, _, text = block.text.partition("\n")
        assert head.startswith("# "), head
        path = self.folder / head.removeprefix("# ")
        if block.language == "diff":
            path.write_text(changed(path.read_text(encoding="utf-8"), text, head), encoding="utf-8")
        else:
            assert not path.exists(), path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.applied.append(path)

    def missing_imports(self) -> list[str]:
        """What the applied files import from the checkout and is not there."""
        wanted = [
            (node.module, alias.name)
            for path in self.applied
            if path.suffix == ".py"
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module is not None
            for alias in node.names
            if node.module.partition(".")[0] in ("netautod", "tests")
        ]
        return [f"{module}.{name}" for module, name in wanted if not self._is_there(module, name)]

    def _is_there(self, module: str, name: str) -> bool:
        path = self.folder / module.replace(".", "/")
        if (path / f"{name}.py").exists() or (path / name).is_dir():
            return True
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        return file.exists() and re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")) is not None

    async def run(self, script: str) -> str:
        """What the commands print; the first that fails is a failure of the test."""
        process = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", script),
            stdout=PIPE,
            stderr=STDOUT,
            cwd=self.folder,
            env=environment(PYTHONPATH=f"{self.folder}:{self.folder / 'plugins'}", PYTEST_ADDOPTS=""),
        )
        out = (await process.communicate())[0].decode()
        assert process.returncode == 0, f"{script}\n{out[:3000]}\n...\n{out[-3000:]}"
        return out


def changed(text: str, diff: str, where: str) -> str:
    """The text after all changes of the diff."""
    for change in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = [line or " " for line in change.splitlines()]
        assert {line[0] for line in lines} <= {" ", "+", "-"}, f"{where}: {change}"
        before = "".join(f"{line[1:]}\n" for line in lines if line[0] != "+")
        after = "".join(f"{line[1:]}\n" for line in lines if line[0] != "-")
        assert f"\n{text}".count(f"\n{before}") == 1, f"{where}: must stand there once:\n{before}"
        text = f"\n{text}".replace(f"\n{before}", f"\n{after}")[1:]
    return text
