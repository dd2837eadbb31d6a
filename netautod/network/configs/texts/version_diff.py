"""The comparison of two versions, as clients see it."""

from dataclasses import dataclass
from typing import Any

from netautod.network.configs.models import Config
from netautod.network.configs.texts.diff import CONTEXT, Difference
from netautod.network.configs.texts.side_by_side import SideBySide


def difference_names(command: str, config: Config) -> tuple[str, str]:
    """Return the names in the head of the diff of a part that is a configuration, too, and its version."""
    return command, f"version {config.version}"


@dataclass(frozen=True, kw_only=True)
class VersionDiff:
    """The difference of two versions. `found` is empty if nothing is to be shown; `identical` compares what
    counts.
    """

    old: Config
    new: Config
    identical: bool
    found: Difference | SideBySide

    def to_json(self) -> dict[str, Any]:
        return {
            "old_version": self.old.version,
            "new_version": self.new.version,
            "old_format": self.old.config_format,
            "new_format": self.new.config_format,
            "identical": self.identical,
            **self._shown(),
            "additions": self.additions,
            "deletions": self.deletions,
        }

    @property
    def text(self) -> str:
        """The unified diff; empty if it was not requested."""
        return self.found.text if isinstance(self.found, Difference) else ""

    @property
    def additions(self) -> int:
        return self.found.additions

    @property
    def deletions(self) -> int:
        return self.found.deletions

    def _shown(self) -> dict[str, Any]:
        if isinstance(self.found, Difference):
            return {"diff": self.text}
        return {"hunks": [hunk.to_json() for hunk in self.found.hunks], "hidden_hunks": self.found.hidden}


@dataclass(frozen=True, kw_only=True)
class DiffForm:
    """The form of a diff: in two `columns` or unified, with so many lines of context."""

    context: int = CONTEXT
    columns: bool = False
