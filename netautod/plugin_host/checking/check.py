"""The check of one path: what is wrong with the plugin there, and what it registers."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netautod.core.settings.table import Setting
from netautod.plugin_host.checking.apart import ChildReport, Report, run_apart
from netautod.plugin_host.checking.examine import Examined, built_in, built_in_registrations
from netautod.plugin_host.checking.located import Located, locate
from netautod.plugin_host.checking.sources import mistakes
from netautod.testing.services.project import ProjectError


@dataclass(kw_only=True)
class Checked:
    """The result of a check. `problems` and `notes` are sentences; without a problem the plugin can be
    installed.
    """

    title: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)


def check(path: Path, *, seconds: float, core: Sequence[Setting]) -> Checked:
    """Load each plugin of the path in a process of its own, within `seconds`.

    Call it in a process with one thread: it forks. `core` are the settings of the service.
    """
    for entry in built_in():
        entry.load()  # once, not in every fork
    own_registrations = built_in_registrations(core)
    with tempfile.TemporaryDirectory(prefix="netautod-check-") as made:
        scratch = Path(made).resolve()
        unpacked = scratch / "wheel"
        unpacked.mkdir()
        try:
            located = locate(path.resolve(), unpacked)
        except ProjectError as error:
            return Checked(title=str(path), problems=[str(error)])
        checked = Checked(title=_title(located), problems=[*located.problems])
        modules = [_module(value) for value in located.plugins.values()]
        own = frozenset(entry.module for entry in built_in())
        checked.problems += mistakes(located.path, modules, own=own)
        for number, (name, value) in enumerate(located.plugins.items()):
            apart = scratch / f"plugin-{number}"
            apart.mkdir()

            def examine(report: Report, name: str = name, value: str = value) -> None:
                Examined(
                    name=name,
                    module=value,
                    path=located.path,
                    report=report,
                    core=core,
                    built_in=own_registrations,
                ).run()

            _add(checked, run_apart(examine, apart, located.path, seconds=seconds))
        return checked


def _add(checked: Checked, child_report: ChildReport) -> None:
    """Add the lines of a report. A mistake that the files have shown already is not repeated when it hinders
    the import.
    """
    for kind, text in child_report.lines:
        kept = {"problem": checked.problems, "note": checked.notes}.get(kind)
        if kind == "effect" and not any(text in known for known in checked.problems):
            checked.problems.append(text)
        if kind in ("plugin", "registers"):
            checked.registers.append(text)
        elif kept is not None and text not in kept:
            kept.append(text)


def _title(located: Located) -> str:
    return f"{located.name} {located.version}" if located.version else located.name


def _module(value: str) -> str:
    return value.partition(":")[0].strip()
