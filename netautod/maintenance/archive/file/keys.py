"""The keys that a backup is written and read with: a passphrase, or else the root key."""

from dataclasses import dataclass, field

from netautod.assembly.settings import Settings
from netautod.secrets.vault.root.key_file import FILE_NAME, SETTING, RootKey, load_root_key
from netautod.store.migrations.archive_errors import ArchiveError


@dataclass(frozen=True, kw_only=True)
class ArchiveKeys:
    """The keys of one call. `place` says where a root key is put.

    `unauthenticated`: the caller vouches for a backup that nothing authenticates.
    """

    passphrase: str | None = field(default=None, repr=False)
    root: RootKey | None = None
    place: str
    unauthenticated: bool = False

    @classmethod
    def of(
        cls, settings: Settings, passphrase: str | None, *, unauthenticated: bool = False
    ) -> "ArchiveKeys":
        """Load the root key of the settings. Raises VaultError for a file that holds none."""
        return cls(
            passphrase=passphrase,
            root=load_root_key(settings.data_dir, settings.master_key_path),
            place=_place(settings),
            unauthenticated=unauthenticated,
        )

    @classmethod
    def of_passphrase(cls, settings: Settings, passphrase: str) -> "ArchiveKeys":
        """Return the keys of a new backup, which needs no root key."""
        return cls(passphrase=passphrase, place=_place(settings))

    def require_root(self) -> RootKey:
        """Return the root key, or raise ArchiveError if there is none to read a backup with."""
        if self.root is None:
            raise ArchiveError(f"The root key of this backup is missing (nothing was written): {self.place}")
        return self.root

    def other_root(self) -> ArchiveError:
        """Build the error of a backup that was made under another root key."""
        return ArchiveError(
            f"The root key in {self.require_root().source} is not the one of this backup (nothing was "
            "written): the backup is of another installation, or the root key was replaced since. "
            f"Find the key that was in use when the backup was taken, and {self.place}"
        )


def _place(settings: Settings) -> str:
    return f"put it at {settings.data_dir / FILE_NAME}, or set {SETTING} to it"
