"""A finding of the doctor, and the versions of MongoDB that are still mended."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`check` is what was looked at; `todo` what an administrator does about it."""

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
    """Of a release whose end has come or comes soon; one that is newer than the table is supported."""
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
