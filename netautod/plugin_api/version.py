"""The version of what plugins may use, how a plugin says which one it needs, and how a part of it goes away.

`VERSION` is MAJOR.MINOR. A minor adds, a major removes or changes. What is going to be removed warns
first, for two minors at least. The page `extend/publishing` of the manual says
the same to authors; tests/plugins/surface.txt records what there is.
"""

import functools
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

VERSION = "1.0"
WANTED = "NETAUTOD_PLUGIN_API"  # the variable of a plugin's module that says what it is written for

_FORM = re.compile(r"(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})")
_MINORS = 2  # that a deprecated part stays for
T = TypeVar("T", bound=Callable[..., Any])


class PluginApiDeprecation(DeprecationWarning):
    """A plugin uses a part of the plugin API that a later version lacks; the text says what instead."""


def parse_version(text: object) -> tuple[int, int]:
    """Return major and minor. ValueError for anything but a text such as `1.0`."""
    matched = _FORM.fullmatch(text) if isinstance(text, str) else None
    if matched is None:
        raise ValueError(f"a version of the plugin API is a text such as {VERSION!r}, not {text!r}")
    return int(matched[1]), int(matched[2])


def refusal(wanted: object, *, version: str = VERSION) -> str | None:
    """Return why a plugin that is written for `wanted` cannot be used, as a sentence; None if it can."""
    try:
        major, minor = parse_version(wanted)
    except ValueError as error:
        return f"{WANTED}: {error}"
    here, newest = parse_version(version)
    versions = f"it is written for plugin API {wanted}, and this netautod has {version}"
    if (major, minor) > (here, newest):
        return f"{versions}: netautod is too old for it"
    if major < here:
        return f"{versions}, which has lost parts of that: a newer release of the plugin is needed"
    return None


def deprecation(name: str, *, since: str, removed_in: str, instead: str) -> PluginApiDeprecation:
    """Return the warning for one part; also for a hook: `@hookspec(warn_on_impl=deprecation(...))`.

    ValueError where it would not stay for two minors.
    """
    first, last = parse_version(since), parse_version(removed_in)
    if last[0] == first[0] and last[1] - first[1] < _MINORS:
        raise ValueError(
            f"{name}: what is deprecated in {since} stays for {_MINORS} minors: not gone in {removed_in}"
        )
    if last <= first:
        raise ValueError(f"{name}: it cannot be gone in {removed_in} before it is deprecated in {since}")
    return PluginApiDeprecation(
        f"{name} is deprecated since plugin API {since} and gone in {removed_in}: use {instead}"
    )


def deprecated(*, since: str, removed_in: str, instead: str) -> Callable[[T], T]:
    """Mark a function, a method or a class: each call warns, with the line of the caller."""

    def mark(marked: T) -> T:
        warning = deprecation(marked.__qualname__, since=since, removed_in=removed_in, instead=instead)
        made: Any = marked
        if inspect.isclass(marked):
            made.__init__ = _warning_call(made.__init__, warning)
        elif inspect.iscoroutinefunction(marked):
            made = _warning_await(marked, warning)
        else:
            made = _warning_call(marked, warning)
        made.__deprecated__ = str(warning)  # as PEP 702 has it, for type checkers and the recorded surface
        return made  # type: ignore[no-any-return]

    return mark


def _warning_call(called: Callable[..., Any], warning: PluginApiDeprecation) -> Callable[..., Any]:
    @functools.wraps(called)
    def call(*args: Any, **options: Any) -> Any:
        warnings.warn(warning, stacklevel=2)
        return called(*args, **options)

    return call


def _warning_await(called: Callable[..., Any], warning: PluginApiDeprecation) -> Callable[..., Any]:
    @functools.wraps(called)
    async def call(*args: Any, **options: Any) -> Any:
        warnings.warn(warning, stacklevel=2)
        return await called(*args, **options)

    return call
