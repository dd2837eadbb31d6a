"""An event as a value, and its place in the order of all events, which every node derives equally."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Self

from netautod.core.errors import InvalidInput
from netautod.core.identity.caller import OrgId

EXECUTION, LOG, POLL, CONFIG, APPROVAL = "execution", "log", "poll", "config", "approval"
RESET, END = "reset", "end"
OPERATE, DEVICES = "tasks.operate", "devices.access"
RESUMABLE: Final = timedelta(minutes=5)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_FORM: Final = re.compile(r"(\d{1,14})-([0-9a-f]{1,16})(?:~([0-9a-f]{8})\.(\d{1,9}))?")
# Sorts before the key of every event of its millisecond.
_BEFORE_ALL: Final = "0"


@dataclass(frozen=True, kw_only=True)
class EventKind:
    """An event of the stream for the manual. `permission` is None for one that every listener gets."""

    name: str
    permission: str | None
    data: str


KINDS: Final = (
    EventKind(
        name=EXECUTION,
        permission=OPERATE,
        data="each state of an execution: an item of `/api/tasks/executions` as it was then, and `at`",
    ),
    EventKind(
        name=LOG,
        permission=OPERATE,
        data="with `?execution_id=` alone: a line of that log as its route has it, and `execution_id`",
    ),
    EventKind(
        name=APPROVAL,
        permission=OPERATE,
        data="`execution_id`, `task_id`, `task_name`, `decision` (null: requested; approved, rejected, "
        "expired, "
        "cancelled), `by`, `comment`, `expires_at`, `at`",
    ),
    EventKind(
        name=POLL, permission=DEVICES, data="each state of a poll: an item of `poll-history`, and `at`"
    ),
    EventKind(
        name=CONFIG,
        permission=DEVICES,
        data="a new version that was captured (not imported): an item of `/configs`, as it was made",
    ),
    EventKind(
        name=RESET, permission=None, data="`reason`: events may be missing here; read again what you show"
    ),
    EventKind(
        name=END,
        permission=None,
        data="`reason` of the end of the stream: `token` (it is no longer valid), `draining` (the node "
        "stops), "
        "`slow` (the client did not read)",
    ),
)


class Position(NamedTuple):
    """A place in the order of all events: milliseconds since 1970, then the event's key."""

    millis: int
    key: str

    @classmethod
    def before(cls, moment: datetime) -> Self:
        """Return the place in front of all events of that millisecond."""
        return cls((moment - _EPOCH) // _MILLISECOND, _BEFORE_ALL)

    @property
    def at(self) -> datetime:
        return _EPOCH + self.millis * _MILLISECOND

    def __str__(self) -> str:
        return f"{self.millis}-{self.key}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An event of the stream.

    `name` is one of those above, or PLUGIN.NAME. `permission`: the one that a listener needs; None: every
    listener of the organization gets it. `key` distinguishes it from the others of its millisecond
    (`key_of`).
    """

    at: datetime
    key: str
    name: str
    org_id: OrgId
    permission: str | None
    data: Mapping[str, Any]

    @property
    def position(self) -> Position:
        return Position((self.at - _EPOCH) // _MILLISECOND, self.key)


def key_of(collection: str, record_id: str, step: int) -> str:
    """Return the key of the `step`-th event of a record; within a millisecond earlier steps go first.

    It has 16 hexadecimal digits: the step, and 48 bits of a hash, so that two records of a millisecond do not
    collide.
    """
    digest = hashlib.blake2b(f"{collection}/{record_id}/{step}".encode(), digest_size=6).hexdigest()
    return f"{min(step, 0xFFFE) + 1:04x}{digest}"


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """The content of a Last-Event-ID: where its stream was, and the last log line that it had, if any.

    `log` is the beginning of the execution's id, as `log_name` makes it.
    """

    position: Position
    log: str | None = None
    seq: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a Last-Event-ID. Raises InvalidInput for one that no stream of this service has sent."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise InvalidInput("Last-Event-ID: Not the id of an event of this service")
        millis, key, log, seq = found.groups()
        return cls(position=Position(int(millis), key), log=log, seq=int(seq or 0))

    def __str__(self) -> str:
        return str(self.position) if self.log is None else f"{self.position}~{self.log}.{self.seq}"


def log_name(execution_id: str) -> str:
    """Return how the ids of a stream name the log of that execution."""
    return execution_id[:8]
