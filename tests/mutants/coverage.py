"""Which tests a mutant has to survive: those that execute its lines, the quick ones first."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.mutants.mutant import Mutant
from tests.mutants.watching import SHARED

# A statement that no test executes in this process may run in a child of it: these many tests of its file.
AT_RANDOM = 40


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Of the tests of one group that pass without a mutant."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Coverage":
        failed = set(found["failed"])
        return cls(
            seconds={name: took for name, took in found["seconds"].items() if name not in failed},
            lines={
                name: {path: set(numbers) for path, numbers in files.items()}
                for name, files in found["lines"].items()
            },
        )

    def tests(self, mutant: Mutant) -> list[str]:
        """In the order in which they are run."""
        if mutant.imported:
            near = [name for name in self.seconds if self._executed(name, mutant.path)]
            return self._quick_first(near or self.seconds)
        wanted = set(mutant.lines)
        found = [name for name in self.seconds if self._executed(name, mutant.path) & wanted]
        if found:
            return self._quick_first(found)
        return self._quick_first(name for name in self.seconds if self._executed(name, mutant.path))[
            :AT_RANDOM
        ]

    def executes(self, mutant: Mutant) -> bool:
        """Whether a test executes it: not what runs in children only, or is called by an import."""
        wanted = set(mutant.lines)
        return any(self._executed(name, mutant.path) & wanted for name in self.seconds)

    def _executed(self, name: str, path: str) -> set[int]:
        scopes = (name, name.partition("::")[0], SHARED)
        none: set[int] = set()
        return none.union(*(self.lines.get(scope, {}).get(path, none) for scope in scopes))

    def _quick_first(self, names: Iterable[str]) -> list[str]:
        """File by file, since fixtures belong to files."""
        ranked = sorted(names, key=lambda name: (self.seconds[name], name))
        files = dict.fromkeys(name.partition("::")[0] for name in ranked)
        return [name for file in files for name in ranked if name.partition("::")[0] == file]
