"""The commands for authors of plugins, `netautod plugins new` and `check`: they read no settings."""

import argparse
from pathlib import Path

from netautod.app.plugins.scaffold import KINDS, scaffold
from netautod.cli.output import say
from netautod.cli.parsing import Inner


def add(inner: Inner) -> None:
    new = inner.add_parser("new", help="make the package of a new plugin, with tests that pass")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--kind", required=True, choices=list(KINDS))
    new.add_argument("--directory", type=Path, default=Path(), metavar="DIR", help="where its folder is made")
    new.set_defaults(without_settings=_new)


def _new(parsed: argparse.Namespace) -> int:
    made = scaffold(parsed.name, kind=parsed.kind, directory=parsed.directory)
    say(f"{made} is made: an example of a plugin of the kind {parsed.kind}")
    say(f"its tests: cd {made} && pytest")
    return 0
