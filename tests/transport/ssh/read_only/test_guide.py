"""The guide's table of what may be asked on each platform is that of the platforms."""

import tomllib
from importlib.resources import files
from pathlib import Path

from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.read_only.forms import Node, graph_of

MOST = 14  # first words that a row names


def first_words(root: Node) -> str:
    found = sorted(root.words, key=str.lower)
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return ", ".join(f"`{word}`" for word in found[:MOST]) + more


def row(registry: PlatformRegistry, name: str) -> str:
    text = files("netautod.transport.ssh").joinpath("platforms", f"{name}.toml").read_text(encoding="utf-8")
    like = tomllib.loads(text)["read_only"].get("like", "")
    grammar = registry.get(name).read_only
    words = first_words(graph_of(grammar.forms)) if grammar.forms else "`show` with plain words"
    filters = first_words(graph_of(grammar.filters)) if grammar.filters else "none"
    return f"| {name} | {like} | {len(grammar.forms)} | {words} | {filters} |"


def test_the_table_is_that_of_the_platforms(repository_root: Path) -> None:
    guide = (repository_root / "plugins" / "README.md").read_text(encoding="utf-8")
    _, found, rest = guide.partition("<!-- read-only table -->\n")
    assert found
    registry = PlatformRegistry()
    listed = rest.partition("\n\n")[0].splitlines()[2:]
    assert listed == [row(registry, name) for name in registry.names()]
