"""Refuses a plugin that is written for another version of the plugin API, with a sentence."""

import ast
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

from netautod.plugin_api.version import WANTED, refusal
from netautod.plugin_host.loading.failures import PluginError


def refuse_version(plugin: object) -> None:
    """Raise PluginError for another version. A plugin that names none is taken for one of this version."""
    wanted = getattr(plugin, WANTED, None)
    reason = None if wanted is None else refusal(wanted)
    if reason is not None:
        raise PluginError(reason)


def refuse_version_of_source(entry: EntryPoint) -> None:
    """Raise PluginError for another version of a plugin that could not be imported, such as for a name that
    only a newer API has.
    """
    wanted = _declared(entry)
    reason = None if wanted is None else refusal(wanted)
    if reason is not None:
        raise PluginError(reason)


def _declared(entry: EntryPoint) -> object:
    """Return what the module assigns to the variable, as it is written there; None if that is unknown."""
    try:
        spec = find_spec(entry.module)
        if spec is None or spec.origin is None:
            return None
        module = ast.parse(Path(spec.origin).read_bytes())
    except (ImportError, OSError, SyntaxError, ValueError, AttributeError):
        return None
    for statement in module.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
            continue
        if any(isinstance(target, ast.Name) and target.id == WANTED for target in statement.targets):
            return statement.value.value
    return None
