"""The commands for authors of plugins, `netautod plugins new` and `check`: they read no settings."""

import argparse
from pathlib import Path

from netautod.assembly.settings import table
from netautod.cli.output import say
from netautod.cli.parsing import Inner
from netautod.plugin_host.scaffold import KINDS, scaffold

SECONDS = 60.0  # that loading a plugin may take


def add(inner: Inner) -> None:
    new = inner.add_parser("new", help="make the package of a new plugin, with tests that pass")
    new.add_argument("name", metavar="NAME")
    new.add_argument("--kind", required=True, choices=list(KINDS))
    new.add_argument(
        "--directory", type=Path, default=Path(), metavar="DIR", help="folder in which the project is created"
    )
    new.set_defaults(without_settings=_new)
    checked = inner.add_parser("check", help="say what is wrong with a plugin, without installing it")
    checked.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a project, package or wheel")
    checked.add_argument("--seconds", type=float, default=SECONDS, help="seconds that loading may take")
    checked.set_defaults(without_settings=_check)


def _new(parsed: argparse.Namespace) -> int:
    made = scaffold(parsed.name, kind=parsed.kind, directory=parsed.directory, core=list(table()))
    say(f"{made} is made: an example of a plugin of the kind {parsed.kind}")
    say(f"its tests: cd {made} && pytest")
    return 0


def _check(parsed: argparse.Namespace) -> int:
    """Exit code 1 if something is wrong."""
    # It brings netautod.testing, which the list of plugins has no use for.
    from netautod.plugin_host.checking.check import check

    core = list(table())
    found = [check(path, seconds=parsed.seconds, core=core) for path in parsed.paths]
    for path, checked in zip(parsed.paths, found, strict=True):
        result = f"{len(checked.problems)} problems" if checked.problems else "it can be installed"
        say(f"{path}: {checked.title}: {result}")
        lines = {"": checked.registers, "note: ": checked.notes, "wrong: ": checked.problems}
        for kind, sentences in lines.items():
            for sentence in sentences:
                say(f"  {kind}{sentence}")
    return 1 if any(checked.problems for checked in found) else 0
