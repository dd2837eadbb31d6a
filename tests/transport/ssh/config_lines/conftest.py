"""Tables of lines, one file for each platform that can be changed."""

import tomllib
from pathlib import Path
from typing import Any

from netautod.transport.ssh.platform.registry import PlatformRegistry

DATA = Path(__file__).parents[3] / "data" / "config_lines"
REGISTRY = PlatformRegistry()
CHANGEABLE = [name for name in REGISTRY.names() if REGISTRY.get(name).change is not None]


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]
