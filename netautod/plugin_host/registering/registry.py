"""The registry of names: the first plugin keeps a name, and one that fails has registered nothing."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from netautod.plugin_host.loading.failures import PluginError

Registered = TypeVar("Registered")


class Names(Generic[Registered]):
    """The things of one kind (`an executor for`) by name; plugins register one after the other.

    `about(plugin)` says of a plugin what its name alone does not; `yields(plugin)` whether it gives way
    instead of failing.
    """

    def __init__(
        self, kind: str, *, about: Callable[[str], str], yields: Callable[[str], bool] = lambda plugin: False
    ) -> None:
        self._kind = kind
        self._about = about
        self._yields = yields
        self._owners: dict[str, str] = {}
        self._things: dict[str, Registered] = {}

    @property
    def things(self) -> Mapping[str, Registered]:
        return self._things

    def turn_of(self, plugin: str) -> "Turn[Registered]":
        return Turn(self, plugin)

    def add(self, plugin: str, things: Mapping[str, Registered]) -> None:
        self._things |= things
        self._owners |= dict.fromkeys(things, plugin)

    def is_left_out(self, plugin: str, name: str) -> bool:
        """Return whether the plugin gives way to the owner of the name; raises PluginError if
        another has it.
        """
        owner = self._owners.get(name)
        if owner is None:
            return False
        if self._yields(plugin):
            return True
        raise PluginError(f"another plugin already registers {self._kind} {name}: {self._about(owner)}")


class Turn(Generic[Registered]):
    """A turn in which one plugin registers: nothing counts before `end`, and nothing at all after a
    failure.
    """

    def __init__(self, names: Names[Registered], plugin: str) -> None:
        self._names = names
        self.plugin = plugin
        self._mine: dict[str, Registered] = {}
        self._over = False
        self._failure: Exception | None = None

    def register(self, made: Callable[[], tuple[str, Registered]]) -> None:
        """Register what `made` returns, a name and its value; it raises for what cannot be registered."""
        try:
            self._register(made)
        except Exception as failure:
            # Also for a plugin that goes on as if nothing had happened.
            self._failure = self._failure or failure
            raise

    def end(self) -> None:
        """End the turn. Raises what a registration has raised."""
        self._over = True
        if self._failure is not None:
            raise self._failure
        self._names.add(self.plugin, self._mine)

    def _register(self, made: Callable[[], tuple[str, Registered]]) -> None:
        if self._over:
            raise PluginError("a plugin registers while its hook is called, not later")
        name, thing = made()
        if name in self._mine:
            raise PluginError(f"the plugin registers {name} twice")
        if not self._names.is_left_out(self.plugin, name):
            self._mine[name] = thing
