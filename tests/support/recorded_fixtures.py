"""Recordings of real devices, read from an installed package at test time, never copied."""

import re
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

_JUNOS_COMMENT = re.compile(r"\s*##.*$")


class NotInstalled(Exception):
    """The package with the recording is not there; the text names it."""


def readings(path: Path) -> tuple[str, tuple[str, str, str], tuple[str, ...]]:
    """Origin, the three readings and their secrets, as `path` (a recorded.toml) describes them.

    `package` and `file` name the recording within the installed package, `form` how it is turned into what
    the platform's command prints. `[[first]]`, `[[second]]` and `[[changed]]` are the substitutions, each of
    which must apply: `first` completes the recording, the others start from the first reading. The groups
    of `secrets` are the secrets of the readings.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    text = FORMS[table["form"]](_recording(table["package"], table["file"]))
    first = _substituted(text, table.get("first", []))
    second = _substituted(first, table["second"])
    changed = _substituted(first, table["changed"])
    everything = "\n".join((first, second, changed))
    secrets = {found for one in table["secrets"] for found in re.findall(one, everything, re.MULTILINE)}
    assert secrets, path
    return f"recorded, {table['source']}", (first, second, changed), tuple(sorted(secrets))


def _recording(package: str, file: str) -> str:
    try:
        found = distribution(package).locate_file(file)
    except PackageNotFoundError as exc:
        raise NotInstalled(package) from exc
    return Path(str(found)).read_text(encoding="utf-8")


def _substituted(text: str, steps: list[dict[str, Any]]) -> str:
    for step in steps:
        text, count = re.subn(step["pattern"], step["replacement"], text, count=1, flags=re.MULTILINE)
        assert count == 1, f"{step['pattern']!r} does not apply"
    return text


def junos_set_commands(text: str) -> str:
    """What `| display set` shows for a configuration in braces: a `set` line for each statement.

    A head line such as `## Last commit: ...` stays. Juniper, CLI User Guide, Displaying set commands from the
    configuration: a list in square brackets becomes a line for each member. One statement per line is what
    Junos prints, and all that is read.
    """
    lines: list[str] = []
    path: list[str] = []
    for number, raw in enumerate(text.splitlines()):
        line = _JUNOS_COMMENT.sub("", raw).strip()
        if raw.startswith("## Last ") and number == 0:
            lines.append(raw)
        elif line.endswith("{"):
            path.append(line.removesuffix("{").strip())
        elif line == "}":
            path.pop()
        elif line:
            lines += [" ".join(["set", *path, one]) for one in _junos_members(line.removesuffix(";"))]
    return "\n".join(lines) + "\n"


def _junos_members(statement: str) -> list[str]:
    found = re.fullmatch(r"(?P<name>.*)\[ (?P<members>.*) \]", statement)
    if found is None:
        return [statement]
    return [found["name"] + member for member in found["members"].split()]


FORMS: dict[str, Callable[[str], str]] = {"text": str, "junos braces": junos_set_commands}
