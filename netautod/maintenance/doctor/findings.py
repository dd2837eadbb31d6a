"""A finding of the doctor, the versions of MongoDB that are still mended, and how its members are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding. `check` is what was examined; `todo` what an administrator does about it."""

    check: str
    text: str
    todo: str

    def to_json(self) -> dict[str, str]:
        return {"check": self.check, "text": self.text, "todo": self.todo}


# The last day of support by release (https://www.mongodb.com/legal/support-policy/lifecycles).
SUPPORTED_UNTIL = {
    "4.4": date(2024, 2, 29),
    "5.0": date(2024, 10, 31),
    "6.0": date(2025, 7, 31),
    "7.0": date(2027, 8, 31),
    "8.0": date(2029, 10, 31),
}
SOON_DAYS = 90


def of_mongodb(version: str, today: date) -> Finding | None:
    """Return the finding of a release whose end has come or comes soon; one newer than the table is
    supported.
    """
    release = ".".join(version.split(".")[:2])
    until = SUPPORTED_UNTIL.get(release)
    oldest = min(SUPPORTED_UNTIL.values())
    if until is None and tuple(map(int, release.split("."))) < (4, 4):
        until = oldest
    if until is None or (until - today).days > SOON_DAYS:
        return None
    ends = "gets no fixes since" if until < today else "gets no fixes after"
    return Finding(
        check="mongodb",
        text=f"MongoDB {version} {ends} {until}",
        todo="upgrade it, one major release at a time, or set mongodb.uri to a newer one of yours",
    )


# https://www.mongodb.com/docs/manual/reference/replica-states/
WELL = frozenset({"PRIMARY", "SECONDARY", "ARBITER"})
LAG_SECONDS = 30


def of_members(status: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield findings of the answer of `replSetGetStatus`: members that are away, and those that are late."""
    members = status["members"]
    newest = max((member["optimeDate"] for member in members if "optimeDate" in member), default=None)
    for member in members:
        name, state = member["name"], member["stateStr"]
        if state not in WELL or not member["health"]:
            todo = "start it, or take it out of the replica set: without a majority nothing can be written"
            yield Finding(check="replica set", text=f"{name} is {state}", todo=todo)
        elif state == "SECONDARY" and newest is not None:
            late = (newest - member["optimeDate"]).total_seconds()
            if late > LAG_SECONDS:
                todo = "look at its disk and its network: a fail-over to it takes as long to catch up"
                yield Finding(check="replica set", text=f"{name} is {late:.0f} s behind", todo=todo)
