"""The view models of sources and synchronisations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.network.inventory.filters import LISTS
from netautod.network.inventory.models import FAILED, PARTIAL, SUCCESS, SavedSource
from netautod.network.inventory.sync.models import MOST_ERRORS, SyncEntry, SyncError, SyncResult, shortened

MOST_SHOWN = 50
STATUS_KINDS: Mapping[str, str] = {SUCCESS: "good", PARTIAL: "warn", FAILED: "bad"}
COUNTS = ("added", "updated", "unchanged", "failed", "removed")
# What a dry run lists, in the order of a page: key and heading.
PLANNED = (
    ("create", "Would be added"),
    ("revive", "Would come back"),
    ("adopt", "Would be taken over"),
    ("update", "Would be changed"),
    ("remove", "Would be removed"),
    ("release", "Would be left to others"),
)


@dataclass(frozen=True, kw_only=True)
class State:
    """A word and the kind of its badge."""

    text: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class ShownEntry:
    """An entry of the history. `has_source`: its source is still there."""

    entry: SyncEntry
    state: State
    has_source: bool

    @property
    def counts(self) -> Mapping[str, int]:
        return {name: self.entry.result[name] for name in COUNTS}

    @property
    def errors(self) -> str:
        """Return the errors, one on each line: a page has many entries, and an entry up to a hundred
        errors.
        """
        return "\n".join(error_line(error) for error in self.entry.result["errors"])


@dataclass(frozen=True, kw_only=True)
class PlannedGroup:
    """The devices that a synchronisation would treat alike; `names` lists all of them if there are more than
    `shown`, else it is empty.
    """

    heading: str
    shown: Sequence[Mapping[str, Any]]
    total: int
    names: str


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The result of a dry run; `more` lists all errors, one on each line, if there are more than
    those shown.
    """

    result: SyncResult
    groups: Sequence[PlannedGroup]
    errors: Sequence[SyncError]
    more: str

    @property
    def counts(self) -> Mapping[str, int]:
        return {name: getattr(self.result, name) for name in COUNTS}


def preview_of(result: SyncResult) -> Preview:
    errors = shortened(result.errors, MOST_ERRORS)
    lines = [error_line(one.to_json()) for one in errors] if len(errors) > MOST_SHOWN else []
    return Preview(
        result=result,
        groups=_planned(result.plan or {}),
        errors=errors[:MOST_SHOWN],
        more="\n".join(lines),
    )


def error_line(error: Mapping[str, Any]) -> str:
    number, name = error["inventory_id"], error["name"]
    about = " ".join(str(one) for one in (name, None if number is None else f"({number})") if one)
    return f"{about}: {error['error']}" if about else str(error["error"])


def state_of(entry: SyncEntry, *, running: bool) -> State:
    if entry.completed_at is None:
        return State(text="running", kind="busy") if running else State(text="no end known", kind="bad")
    if not entry.success:
        return State(text=FAILED, kind="bad")
    if entry.result["errors"]:
        return State(text=PARTIAL, kind="warn")
    return State(text=SUCCESS, kind="good")


def state_of_source(source: SavedSource) -> State:
    status = source.last_sync_status
    return State(text=status or "never", kind=STATUS_KINDS.get(status or "", "plain"))


def _planned(plan: Mapping[str, Any]) -> list[PlannedGroup]:
    """Return the groups that have devices."""
    return [_group(heading, plan[key]) for key, heading in PLANNED if plan.get(key)]


def _group(heading: str, devices: Sequence[Mapping[str, Any]]) -> PlannedGroup:
    names = "\n".join(device["name"] for device in devices) if len(devices) > MOST_SHOWN else ""
    return PlannedGroup(heading=heading, shown=devices[:MOST_SHOWN], total=len(devices), names=names)


def filter_texts(filters: Mapping[str, Any]) -> dict[str, str]:
    """Return the filters as fields of a form: one text each, slugs separated by commas."""
    texts = {name: ", ".join(filters.get(name, ())) for name in LISTS}
    return {**texts, "name": filters.get("name", "")}


def filters_of(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the filters that the fields of a form mean; an empty field filters nothing."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        if name == "name":
            found[name] = text.strip()
        else:
            found[name] = [slug.strip() for slug in text.replace("\n", ",").split(",") if slug.strip()]
    return {name: value for name, value in found.items() if value}
