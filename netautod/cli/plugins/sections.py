"""The command `netautod plugins settings`: the sections of plugins, and where each value comes from."""

import argparse
import json
from pathlib import Path
from typing import Any

from netautod.assembly.configuration import Configuration
from netautod.cli.output import say
from netautod.cli.parsing import Inner, add_inner
from netautod.core.errors import NotFound
from netautod.core.settings.table import Setting, rows_of


def add(inner: Inner) -> None:
    parser = add_inner(inner, "settings", run, "show the settings of plugins, without their secrets")
    parser.add_argument("name", nargs="?", help="show only this plugin")


def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
    sections = configuration.settings.of_plugins
    if parsed.name is not None and parsed.name not in sections:
        raise NotFound(f"no plugin that works has a section [{parsed.name}]")
    for name in sorted(sections) if parsed.name is None else [parsed.name]:
        say(f"[{name}]")
        for row in rows_of(name, type(sections[name])):
            value = _shown(row, getattr(sections[name], row.name))
            say(f"{row.name} = {value}  # {_origin(configuration, row.key)}")
        say()
    return 0


def _shown(row: Setting, value: Any) -> str:
    """Return the value as it would stand in the file."""
    if row.secret:
        return "(set)" if value else "(not set)"
    if isinstance(value, Path):
        value = str(value)
    return json.dumps(value, ensure_ascii=False)


def _origin(configuration: Configuration, key: str) -> str:
    name = configuration.in_vault.get(key)
    return configuration.origins(key) if name is None else f"vault:{name}"
