"""The settings of documents and of the notes vault."""

from dataclasses import dataclass

from netautod.core.settings.field import setting


@dataclass(frozen=True, kw_only=True)
class NotesVaultSettings:
    auto_lock_minutes: float = setting(
        60.0, "An unlocked notes vault locks itself after so many minutes; 0: never.", low=0, high=525_600
    )


@dataclass(frozen=True, kw_only=True)
class DocsSettings:
    render_processes: int = setting(2, "Templates that one node renders at a time.", low=1, high=64)
