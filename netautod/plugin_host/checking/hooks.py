"""The hooks that an object implements, and what is wrong with each."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import ModuleType
from typing import Any

from netautod.plugin_api import hookspecs
from netautod.plugin_host.loading.refusals import kind_of

SPECS: Mapping[str, Any] = {
    name: spec for name, spec in vars(hookspecs).items() if name.startswith(f"{hookspecs.PROJECT}_")
}
_MARK = f"{hookspecs.PROJECT}_impl"


def implemented(plugin: object) -> tuple[Mapping[str, Callable[..., Any]], list[str]]:
    """Return the hooks that can be called, and sentences about the others."""
    good: dict[str, Callable[..., Any]] = {}
    sentences: list[str] = []
    for name in dir(plugin):
        function = getattr(plugin, name, None)
        marked = getattr(function, _MARK, None)
        if not inspect.isroutine(function) or (marked is None and not name.startswith("netautod_")):
            continue
        problems = _mistakes(name, function, marked)
        sentences += problems
        if not problems:
            good[name] = function
    return good, sentences


def with_hooks(name: str, hooks: Mapping[str, Callable[..., Any]]) -> ModuleType:
    """Return a plugin of these hooks alone."""
    made = ModuleType(name)
    vars(made).update(hooks)
    return made


def _mistakes(name: str, function: Callable[..., Any], marked: Any) -> list[str]:
    label = f"{place_of(function)}{name}"
    if marked is None:
        return [f"{label} has no @hookimpl: it is never called"] if name in SPECS else []
    hook_name = marked.get("specname") or name
    if hook_name not in SPECS:
        near = get_close_matches(hook_name, SPECS, n=1)
        return [f"{label}: there is no such hook" + (f"; did you mean {near[0]}?" if near else "")]
    sentences = []
    if marked.get("wrapper") or marked.get("hookwrapper"):
        sentences.append(f"{label} is a hook wrapper: hooks are called one by one, nothing is wrapped")
    kind = kind_of(function)
    if kind is not None and not sentences:
        sentences.append(f"{label} is {kind}: hooks are plain functions, what they register is asynchronous")
    known = list(inspect.signature(SPECS[hook_name]).parameters)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            sentences.append(f"{label}: a hook names its arguments, it has no *{parameter.name}")
        elif parameter.name not in known and parameter.default is parameter.empty:
            sentences.append(f"{label} has no argument {parameter.name}: it may name {' and '.join(known)}")
    return sentences


def place_of(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f"line {code.co_firstlineno}: "
