"""Turns a Junos configuration in braces into the commands that `| display set` shows for it."""

import re

_COMMENT = re.compile(r"\s*##.*$")


def as_set_commands(text: str) -> str:
    """One `set` line for each statement; a head line such as `## Last commit: ...` stays.

    Juniper, CLI User Guide, Displaying set commands from the configuration: a list in square brackets
    becomes a line for each member. One statement per line is what Junos prints, and all that is read.
    """
    lines: list[str] = []
    path: list[str] = []
    for number, raw in enumerate(text.splitlines()):
        line = _COMMENT.sub("", raw).strip()
        if raw.startswith("## Last ") and number == 0:
            lines.append(raw)
        elif line.endswith("{"):
            path.append(line.removesuffix("{").strip())
        elif line == "}":
            path.pop()
        elif line:
            lines += [" ".join(["set", *path, one]) for one in _members(line.removesuffix(";"))]
    return "\n".join(lines) + "\n"


def _members(statement: str) -> list[str]:
    found = re.fullmatch(r"(?P<name>.*)\[ (?P<members>.*) \]", statement)
    if found is None:
        return [statement]
    return [found["name"] + member for member in found["members"].split()]
