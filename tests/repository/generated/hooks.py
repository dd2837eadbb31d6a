"""The page of all hooks, from their specifications."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from netautod.plugin_api import hookspecs
from tests.repository.generated.markdown import page


def all_hooks() -> str:
    found = list(_hooks())
    registering = [_hook(hook) for hook in found if hook.__name__.startswith("netautod_register_")]
    observing = [_hook(hook) for hook in found if not hook.__name__.startswith("netautod_register_")]
    return page(
        "All hooks",
        "Look up a hook here: when it is called and with what. A plugin implements a hook with `@hookimpl` "
        "from "
        "`netautod.plugin_api`; [Hooks](hooks.md) says which one you need. Every name in a signature comes "
        "from "
        "`netautod.plugin_api`.",
        "## Hooks that register",
        *registering,
        "## Hooks that observe",
        *observing,
    )


def _hooks() -> Iterator[Callable[..., Any]]:
    """Yield the specifications in the order of their module."""
    for value in vars(hookspecs).values():
        if inspect.isfunction(value) and hasattr(value, f"{hookspecs.PROJECT}_spec"):
            yield value


def _hook(hook: Callable[..., Any]) -> str:
    signature = "\n".join(_signature(hook))
    return f"### {hook.__name__}\n\n```python\n{signature}\n```\n\n{inspect.getdoc(hook)}"


def _signature(hook: Callable[..., Any]) -> Iterator[str]:
    """Yield the lines of the definition as it stands in the module."""
    for line in inspect.getsource(hook).splitlines()[1:]:
        yield line
        if line.endswith(("-> None:", ") -> None:")):
            return
