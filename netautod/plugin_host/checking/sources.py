"""Checks of a plugin's files without running them: syntax, and imports of what is not for plugins."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from netautod import plugin_api, testing

_OPEN = {
    "netautod.plugin_api": frozenset(plugin_api.__all__),
    "netautod.testing": frozenset({*testing.__all__, "pytest_plugin"}),
    "netautod.testing.pytest_plugin": None,
}


def mistakes(path: Path, modules: Iterable[str], *, own: frozenset[str]) -> list[str]:
    """Return sentences about the packages of these modules, each with its file and line.

    `own` are the packages of netautod's own plugins, which are not for others.
    """
    found: list[str] = []
    tops = dict.fromkeys(module.partition(".")[0] for module in modules)
    for top in tops:
        files = [path / f"{top}.py"] if (path / f"{top}.py").is_file() else sorted((path / top).rglob("*.py"))
        for file in files:
            found += _of_file(file, file.relative_to(path), own - set(tops))
    return found


def _of_file(file: Path, shown: Path, own: frozenset[str]) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError as error:
        yield f"{shown}, line {error.lineno}: SyntaxError: {error.msg}"
        return
    except ValueError as error:
        yield f"{shown}: {error}"
        return
    for node in ast.walk(tree):
        for module, name in _imported(node):
            reason = _refusal(module, name, own)
            if reason is not None:
                yield f"{shown}, line {getattr(node, 'lineno', 0)}: {reason}"


def _imported(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Yield imported modules, each with a name that is taken out of it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
        yield from ((node.module, alias.name) for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
            yield node.args[0].value, None


def _refusal(module: str, name: str | None, own: frozenset[str]) -> str | None:
    top = module.partition(".")[0]
    if top in own:
        return f"{top} is a plugin of netautod's own: nothing of it is for other plugins"
    if top != "netautod":
        return None
    whole = f"{module}.{name}" if module == "netautod" and name else module
    if whole not in _OPEN:
        return (
            f"{whole} is netautod's own: plugins import netautod.plugin_api, and their tests netautod.testing"
        )
    names = _OPEN[whole]
    if names is not None and whole == module and name not in (None, "*") and name not in names:
        return f"{module} offers no {name}"
    return None
