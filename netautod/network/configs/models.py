"""A stored version of a device's configuration, the difference of two, and snapshots of many devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.transport.ssh.encoding import Encoding

TEXT_FORMAT = "cli"
FROM_DEVICE = "device"
IMPORTED = "import"  # as source and pulled_via of a version


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part that a device has beside its configuration: `size` in bytes of what is shown of it, redacted;
    None until that is known.

    Inside only: `text_id` names the stored text. With `difference` that is a configuration too, and what is
    shown is its difference from the version; size 0: nothing.
    """

    name: str
    command: str
    size: int | None
    text_id: str
    difference: bool

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "command": self.command, "size": self.size}


@dataclass(frozen=True, kw_only=True)
class ShownForm:
    """The hash and the size in bytes of a version's redacted text; None while they are not known.

    `rules` names the rules by which it was redacted. By other rules the text reads differently, so that the
    hash and the size of it would tell of secrets that the new rules hide.
    """

    config_hash: str | None = None
    size: int | None = None
    rules: str = ""


UNKNOWN_FORM = ShownForm()


@dataclass(frozen=True, kw_only=True)
class Config:
    """A stored version. `config_hash` is that of the normalised and `size` that in bytes of the raw text, for
    readers who may see secrets; all others get those of the text as they see it, `shown`. `source` says where
    it was read: `device`, or `import`.

    `pulled_via` is `api` (single pull), `bulk`, `task` or `import`; `created_by` a user id. Inside only:
    `text_id` names the stored text, `platform` is the device_type that it was captured as, which knows its
    noise; `parts` are those that were read last while the version was the newest, at `parts_at`.
    """

    id: str
    org_id: OrgId
    device_id: str
    version: int
    config_hash: str
    config_format: str
    source: str
    pulled_via: str
    created_by: str
    created_at: datetime
    last_seen_at: datetime
    size: int
    notes: str | None
    text_id: str
    platform: str
    parts: tuple[Part, ...] = ()
    parts_at: datetime | None = None
    shown: ShownForm = UNKNOWN_FORM

    def form_for(self, *, full: bool) -> ShownForm:
        """Return the hash and the size for a reader; `full`: for one who holds credentials.manage."""
        return ShownForm(config_hash=self.config_hash, size=self.size) if full else self.shown

    @property
    def captured_at(self) -> datetime | None:
        """Return when a capture read it last; None for an imported one that no capture has met since."""
        unseen = self.source == IMPORTED and self.last_seen_at <= self.created_at
        return None if unseen else self.last_seen_at

    def to_json(self, *, full: bool = False) -> dict[str, Any]:
        """Return the version as readers get it; `full`: one who holds credentials.manage."""
        form = self.form_for(full=full)
        return {
            "id": self.id,
            "device_id": self.device_id,
            "org_id": self.org_id,
            "version": self.version,
            "config_hash": form.config_hash,
            "config_format": self.config_format,
            "source": self.source,
            "pulled_via": self.pulled_via,
            "created_by": self.created_by,
            "created_at": to_text(self.created_at),
            "last_seen_at": to_text(self.last_seen_at),
            "size": form.size,
            "notes": self.notes,
        }


@dataclass(frozen=True, kw_only=True)
class ReadConfig:
    """A version as it is read: `text` is its bytes decoded by `encoding`, redacted or not.

    `learned_noise` are patterns of lines of the device that change by themselves. `full`: it is read by one
    who holds credentials.manage.
    """

    config: Config
    text: str
    encoding: Encoding
    learned_noise: Sequence[str] = ()
    full: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            **self.config.to_json(full=self.full),
            "config_text": self.text,
            "encoding": self.encoding,
            "parts": [part.to_json() for part in self.config.parts],
            "learned_noise": list(self.learned_noise),
        }


@dataclass(frozen=True, kw_only=True)
class Captured:
    """The result of a capture. `notes` are sentences on what the device does not have or show."""

    config: Config
    changed: bool
    credential_id: str
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ChangedLines:
    """The number of lines that a version has and the one before has not, and the other way around.

    Of a first version all its lines are additions.
    """

    additions: int
    deletions: int


@dataclass(frozen=True, kw_only=True)
class RecentChange:
    """A version that was captured lately; `lines` None: a text of the two is lost or damaged."""

    device_id: str
    device_name: str
    version: int
    created_at: datetime
    lines: ChangedLines | None

    def to_json(self) -> dict[str, Any]:
        return {
            "device_id": self.device_id,
            "device_name": self.device_name,
            "version": self.version,
            "created_at": to_text(self.created_at),
            "additions": None if self.lines is None else self.lines.additions,
            "deletions": None if self.lines is None else self.lines.deletions,
        }


@dataclass(frozen=True, kw_only=True)
class NewestText:
    """The place of the text of a device's newest version; `size` in bytes of the raw text."""

    version: int
    text_id: str
    platform: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Match:
    """A line that a search has found; `line_number` counts from 1 in the redacted text.

    `before` and `after` are None where no lines around it were requested.
    """

    device_id: str
    device_name: str
    version: int
    line_number: int
    line: str
    before: Sequence[str] | None = None
    after: Sequence[str] | None = None

    def to_json(self) -> dict[str, Any]:
        around = {} if self.before is None else {"before": self.before, "after": self.after}
        return {
            "device_id": self.device_id,
            "device_name": self.device_name,
            "version": self.version,
            "line_number": self.line_number,
            "line": self.line,
            **around,
        }


@dataclass(frozen=True, kw_only=True)
class LineGroup:
    """An equal line of several devices; `matches` are its first places, by device name."""

    line: str
    devices: int
    matches: Sequence[Match]

    def to_json(self) -> dict[str, Any]:
        matches = [match.to_json() for match in self.matches]
        return {"line": self.line, "devices": self.devices, "matches": matches}


@dataclass(frozen=True, kw_only=True)
class BulkResult:
    """The result of a bulk pull; `errors` are (device id, its name if there is one, sentence)."""

    succeeded: int
    errors: Sequence[tuple[str, str | None, str]]

    def to_json(self) -> dict[str, Any]:
        return {
            "succeeded": self.succeeded,
            "failed": len(self.errors),
            "errors": [
                {"device_id": device_id, "device_name": name, "error": text}
                for device_id, name, text in self.errors
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A snapshot of what one execution captured; the counts are of devices, over all attempts.

    `task_id` is None for one that belongs to no task.
    """

    id: str
    name: str
    task_id: str | None
    execution_id: str
    created_at: datetime
    devices_total: int
    succeeded: int
    failed: int

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "task_id": self.task_id,
            "execution_id": self.execution_id,
            "created_at": to_text(self.created_at),
            "devices_total": self.devices_total,
            "succeeded": self.succeeded,
            "failed": self.failed,
        }


@dataclass(frozen=True, kw_only=True)
class SnapshotConfig:
    """A device of a snapshot and the version that it had; the hash is that of its text as shown."""

    device_id: str
    device_name: str
    config_id: str
    version: int
    config_hash: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "device_id": self.device_id,
            "device_name": self.device_name,
            "config_id": self.config_id,
            "version": self.version,
            "config_hash": self.config_hash,
        }
