"""What the plugin author's guide says of platforms: its example loads, its table is what ships."""

import re
from pathlib import Path

from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.platform_fixtures import load, recordings


def guide(root: Path) -> str:
    return (root / "plugins" / "README.md").read_text(encoding="utf-8")


def rows(registry: PlatformRegistry) -> list[str]:
    """The table as it should be."""
    recorded = {path.parent.name for path in recordings()}
    found: list[str] = []
    for name in registry.names():
        aliases = ", ".join(registry.get(name).aliases)
        fixtures = "constructed, recorded" if name in recorded else load(name).origin.partition(",")[0]
        found.append(f"| {name} | {aliases} | {fixtures} |")
    return found


def test_the_example_is_a_platform(repository_root: Path, tmp_path: Path) -> None:
    block = re.search(r"<!-- platform example -->\n```toml\n(.*?)```", guide(repository_root), re.DOTALL)
    assert block is not None
    path = tmp_path / "acme_os.toml"
    path.write_text(block[1])
    assert PlatformRegistry().register(path).name == "acme_os"


def test_the_table_lists_every_platform(repository_root: Path) -> None:
    _, found, rest = guide(repository_root).partition("<!-- platform table -->\n")
    assert found
    listed = [line for line in rest.partition("\n\n")[0].split("\n")[2:] if line]
    assert listed == rows(PlatformRegistry())
