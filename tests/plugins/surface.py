"""The surface that authors of plugins build on, as lines of text, and what a change of it asks for.

`python -m tests.plugins.surface` writes surface.txt anew; with `--released` it also says that the present
VERSION has been released, so that its lines are promised from then on.
"""

import enum
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from netautod import plugin_api, testing
from netautod.plugin_api import VERSION, hookspecs
from netautod.plugin_api.version import parse_version
from netautod.testing import pytest_plugin

FILE = Path(__file__).with_name("surface.txt")
COMMAND = ".venv/bin/python -m tests.plugins.surface"
_HEAD = f"""\
# What authors of plugins may use: since which version of the plugin API, its name, what it is.
# `{COMMAND}` writes this file; netautod/manual/extend/publishing.md has the promise.
"""
_SPECIAL = ("__init__", "__call__", "__enter__", "__exit__", "__aenter__", "__aexit__")
Lines = Mapping[str, str]  # what a name is, by the name


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The recorded surface: `since` are versions by name, `released` the newest that authors have."""

    released: str | None
    since: Mapping[str, str]
    lines: Lines

    @property
    def promised(self) -> frozenset[str]:
        """The names that must stay."""
        if self.released is None:
            return frozenset()
        newest = parse_version(self.released)
        return frozenset(name for name in self.lines if parse_version(self.since[name]) <= newest)


def read() -> Recorded:
    text = FILE.read_text(encoding="utf-8") if FILE.exists() else "# released: none\n"
    released = re.search(r"(?m)^# released: (.*)$", text)
    rows = [line.split(" ", 2) for line in text.splitlines() if line and not line.startswith("#")]
    assert released is not None
    return Recorded(
        released=None if released[1] == "none" else released[1],
        since={name: since for since, name, _ in rows},
        lines={name: what for _, name, what in rows},
    )


def write(recorded: Recorded, found: Lines, *, released: str | None) -> None:
    rows = [f"{recorded.since.get(name, VERSION)} {name} {what}" for name, what in sorted(found.items())]
    text = f"{_HEAD}# released: {released or 'none'}\n" + "\n".join(rows) + "\n"
    FILE.write_text(text, encoding="utf-8")


def unrecorded(recorded: Recorded, found: Lines) -> list[str]:
    """Return what differs from the record."""
    added = [f"added: {name} {found[name]}" for name in sorted(found.keys() - recorded.lines.keys())]
    removed = [f"removed: {name}" for name in sorted(recorded.lines.keys() - found.keys())]
    changed = [
        f"changed: {name} from {recorded.lines[name]} to {found[name]}"
        for name in sorted(found.keys() & recorded.lines.keys())
        if found[name] != recorded.lines[name]
    ]
    return added + removed + changed


def broken_promises(recorded: Recorded, found: Lines, *, version: str = VERSION) -> list[str]:
    """Return what the change demands of VERSION, as sentences: nothing before the first release."""
    if recorded.released is None:
        return []
    here, released = parse_version(version), parse_version(recorded.released)
    if here[0] > released[0]:
        return []
    problems = []
    for name in sorted(recorded.promised):
        before, now = recorded.lines[name], found.get(name)
        if now is None and not _is_over(before, here):
            problems.append(
                f"{name} is gone: raise the major of VERSION, or keep it `deprecated` for two minors"
            )
        elif now is not None and _plain(now) != _plain(before):
            problems.append(
                f"{name} has changed from {before} to {now}: raise the major of VERSION, or add a new name"
            )
    added = found.keys() - recorded.promised
    for name in sorted(added):
        owner = name.partition("(")[0] if "(" in name else name.rpartition(".")[0]
        if owner in recorded.promised and found[name].startswith("required "):
            problems.append(f"{name} has no default, so code that does without it fails: give it one")
    if added and here <= released:
        problems.append(
            f"something is added to {recorded.released}, which is released: raise the minor of VERSION"
        )
    return problems


def _plain(what: str) -> str:
    """Return the line without the mark of what is deprecated: to become so is no change."""
    return what.partition(" [deprecated")[0]


def _is_over(what: str, here: tuple[int, int]) -> bool:
    gone = re.search(r"\[deprecated.* gone in (\d+\.\d+)", what)
    return gone is not None and here >= parse_version(gone[1])


def surface() -> Lines:
    """Return the present surface."""
    found: dict[str, str] = {}
    for module in (plugin_api, testing):
        for name in module.__all__:
            found.update(
                _described(f"{module.__name__.removeprefix('netautod.')}.{name}", getattr(module, name))
            )
    for name, hook in vars(hookspecs).items():
        if name.startswith("netautod_"):
            found.update(_function(f"hooks.{name}", "hook", hook, hook=True))
            found[f"hooks.{name}"] += _deprecated_hook(hook)
    found.update(_fixtures(pytest_plugin))
    return found


def _described(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    if inspect.isclass(thing):
        yield name, _class(thing) + _deprecated(thing)
        yield from _members(name, thing)
    elif inspect.isroutine(thing):
        yield from _marked(_function(name, "function", thing), thing)
    elif callable(thing) and type(thing).__module__.startswith("pluggy"):
        yield name, "decorator"
    else:
        shown = _type(thing) if getattr(thing, "__origin__", None) is not None else type(thing).__name__
        yield name, f"value {shown}"


def _class(kind: type) -> str:
    bases = [base.__name__ for base in kind.__bases__ if base not in (object,)]
    parts = ["dataclass"] if is_dataclass(kind) else ["class"]
    return " ".join(parts) + (f"({', '.join(bases)})" if bases else "")


def _members(name: str, kind: type) -> Iterator[tuple[str, str]]:
    if issubclass(kind, enum.Enum):
        yield from ((f"{name}.{member.name}", f"member {member.value!r}") for member in kind)
        return
    if is_dataclass(kind):
        for one in fields(kind):
            if not one.name.startswith("_"):
                required = one.init and one.default is MISSING and one.default_factory is MISSING
                yield f"{name}.{one.name}", f"{'required ' if required else ''}field {_type(one.type)}"
    listed: set[str] = {one.name for one in fields(kind)} if is_dataclass(kind) else set()
    for parent in kind.__mro__:
        if not parent.__module__.startswith("netautod"):
            continue
        for member, value in vars(parent).items():
            if member in listed or not _is_public(member, kind):
                continue
            listed.add(member)
            if isinstance(value, property) and value.fget is not None:
                yield f"{name}.{member}", f"property {_type(inspect.signature(value.fget).return_annotation)}"
            elif inspect.isroutine(value) or isinstance(value, classmethod | staticmethod):
                plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
                yield from _marked(_function(f"{name}.{member}", "method", plain), plain)
        for member, annotation in vars(parent).get("__annotations__", {}).items():
            if member not in listed and not member.startswith("_"):
                listed.add(member)
                yield f"{name}.{member}", f"attribute {_type(annotation)}"


def _is_public(member: str, kind: type) -> bool:
    if member == "__init__":
        return not is_dataclass(kind) and not getattr(kind, "_is_protocol", False)
    return member in _SPECIAL or not member.startswith("_")


def _fixtures(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name in module.__all__:
        fixture = getattr(module, name)
        made = getattr(fixture, "_fixture_function", None) or getattr(fixture, "__wrapped__", fixture)
        marker = getattr(fixture, "_fixture_function_marker", None) or fixture._pytestfixturefunction
        yield f"fixtures.{name}", f"{marker.scope} fixture {_type(inspect.signature(made).return_annotation)}"


def _function(name: str, kind: str, function: Any, *, hook: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the function and its parameters: an optional one may be added, as may any argument of a hook."""
    signature = inspect.signature(function)
    kind = f"async {kind}" if inspect.iscoroutinefunction(function) else kind
    yield name, f"{kind} -> {_type(signature.return_annotation)}"
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.name == "self" or (place == 0 and parameter.name == "cls"):
            continue
        variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        needed = parameter.default is parameter.empty and not variable and not hook
        where = "keyword" if parameter.kind is parameter.KEYWORD_ONLY else f"parameter {place}"
        annotation = _type(parameter.annotation)
        yield (
            f"{name}({parameter.name})",
            f"{'required ' if needed else ''}{'argument' if hook else where} {annotation}",
        )


def _type(annotation: Any) -> str:
    """Return the text without the modules, and without types of functions' defaults."""
    if annotation is inspect.Signature.empty:
        return "Any"
    plain = inspect.isclass(annotation) and not hasattr(annotation, "__args__")
    shown = annotation.__name__ if plain else str(annotation)
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=\w)", "", shown).replace("NoneType", "None")


def _marked(lines: Iterator[tuple[str, str]], thing: Any) -> Iterator[tuple[str, str]]:
    """Return the text with the mark of what is deprecated at the function itself."""
    for place, (name, what) in enumerate(lines):
        yield name, what + (_deprecated(thing) if place == 0 else "")


def _deprecated(thing: Any) -> str:
    message = getattr(thing, "__deprecated__", None)
    gone = re.search(r"since plugin API (\S+) and gone in (\d+\.\d+)", message or "")
    return "" if gone is None else f" [deprecated since {gone[1]}, gone in {gone[2]}]"


def _deprecated_hook(hook: Any) -> str:
    warning = getattr(hook, "netautod_spec", {}).get("warn_on_impl")
    gone = re.search(r"since plugin API (\S+) and gone in (\d+\.\d+)", str(warning))
    return "" if gone is None else f" [deprecated since {gone[1]}, gone in {gone[2]}]"


def main(arguments: list[str]) -> int:
    recorded, found = read(), surface()
    broken = broken_promises(recorded, found)
    for sentence in broken:
        sys.stderr.write(f"{sentence}\n")
    if broken:
        return 1
    write(recorded, found, released=VERSION if "--released" in arguments else recorded.released)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
