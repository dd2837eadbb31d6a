"""The pages of all settings and of all risks."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from netautod.assembly.risks import rules
from netautod.assembly.settings import table as own_settings
from netautod.core.settings.table import Setting, rows_of
from tests.repository.generated.installation import configuration
from tests.repository.generated.markdown import code, page, prose, table


def all_settings() -> str:
    parts = [_section(name, rows) for name, rows in groupby(own_settings(), key=lambda row: row.section)]
    parts += [_section(name, rows, of_plugin=True) for name, rows in _of_plugins()]
    return page(
        "All settings",
        "Look up a setting here: its key in `netautod.toml`, its variable in the environment, its default "
        "and "
        "what it does. [Settings](settings.md) says how to set one.",
        *parts,
    )


def _of_plugins() -> Iterator[tuple[str, Iterable[Setting]]]:
    for name, declared in sorted(configuration().plugins.sections.items()):
        yield name, rows_of(name, declared)


def _section(name: str, rows: Iterable[Setting], *, of_plugin: bool = False) -> str:
    heading = f"## [{name}]" if name else "## Without a section"
    of = f"These are settings of the plugin `{name}`.\n\n" if of_plugin else ""
    cells = [
        (code(row.key), code(row.variable), code(_default(row.default)), prose(_meaning(row))) for row in rows
    ]
    return f"{heading}\n\n{of}{table(('Setting', 'Variable', 'Default', 'Meaning'), cells)}"


def _default(value: Any) -> str:
    """Return the default as `netautod.toml` would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(_default, value))}]"
    if isinstance(value, Path):
        return f'"~/{value.relative_to(Path.home())}"'
    return f'"{value}"' if isinstance(value, str) else str(value)


def _meaning(row: Setting) -> str:
    bounds = ""
    if row.high is not None:
        bounds = f"{row.low or 0:g} to {row.high:g}."
    elif row.low:
        bounds = f"At least {row.low:g}."
    secret = "A secret: see [how to give one](settings.md)." if row.secret else ""
    return " ".join(filter(None, [row.help, bounds, secret]))


def risks() -> str:
    known = rules(configuration().settings)
    refused = [rule for rule in known if rule.refused]
    warned = [rule for rule in known if not rule.refused]
    return page(
        "Risks of settings",
        "Look up a risk here that `netautod check-config`, the log or `GET /api/system/status` names. A risk "
        'that you accept stands in `accept_risks = ["NAME"]` at the top of `netautod.toml`. Networks that '
        "together hold half of all addresses count as every address.",
        "## The service does not start\n\nUntil you accept such a risk the service refuses to start (exit "
        "code "
        f"2). After that it is a warning.\n\n{_risks(refused)}",
        "## The service warns\n\nThe service starts and warns in its log. Accepting such a risk silences the "
        f"warning.\n\n{_risks(warned)}",
    )


def _risks(found: Iterable[Any]) -> str:
    cells = [
        (code(rule.name), prose(rule.cause), f"{prose(rule.text[0].upper() + rule.text[1:])}.")
        for rule in found
    ]
    return table(("Risk", "Settings that bring it about", "What can happen"), cells)
