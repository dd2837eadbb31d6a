"""The fleet that is simulated: how large it is, what of it is played here, and its rows in the database."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from netautod.store.client import Database, Document
from tests.bench.measured.schedules import BATCH
from tests.support.execution import task

DAY_MINUTES = 24 * 60


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Each task backs up one device a day, at a minute of its own; a node runs `slots` at a time.

    `session_seconds` is how long a run lasts.
    """

    tasks: int = 1_000_000
    devices: int = 200_000
    nodes: int = 50
    slots: int = 20
    session_seconds: float = 20.0

    @property
    def due_each_minute(self) -> float:
        return self.tasks / DAY_MINUTES

    def scaled(self, scale: float) -> "Fleet":
        """A part of the fleet: fewer tasks, devices and nodes in the same proportions."""
        return replace(
            self,
            tasks=max(1, round(self.tasks / scale)),
            devices=max(1, round(self.devices / scale)),
            nodes=max(1, round(self.nodes / scale)),
        )


async def store_fleet(database: Database, fleet: Fleet, minutes: list[datetime], due: int) -> None:
    """All of its rows; `due` tasks come due in each of the `minutes`, the others later than all of them."""
    first = task()
    later = minutes[-1] + timedelta(days=1)
    ticks = [minute for minute in minutes for _ in range(due)]
    await _insert(
        database, "devices", (_device(first.org_id, number) for number in range(fleet.devices)), fleet.devices
    )

    def tasks() -> Iterator[Document]:
        for number in range(fleet.tasks):
            tick = ticks[number] if number < len(ticks) else later
            made = replace(
                task(),
                org_id=first.org_id,
                owner_id=first.owner_id,
                name=f"backup {number}",
                cron_expression=f"{tick.minute} {tick.hour} * * *",
                next_run_at=tick,
                parameters={"org_id": first.org_id, "device_id": _device_id(number % fleet.devices)},
            )
            document = {field.name: getattr(made, field.name) for field in fields(made)}
            yield {"_id": document.pop("id"), **document}

    await _insert(database, "tasks", tasks(), fleet.tasks)


async def _insert(database: Database, name: str, documents: Iterator[Document], count: int) -> None:
    for _ in range(0, count, BATCH):
        part = [document for _, document in zip(range(BATCH), documents, strict=False)]
        if part:
            await database.collection(name).insert_many(part)


def _device_id(number: int) -> str:
    return str(uuid5(NAMESPACE_OID, f"device {number}"))


def _device(org_id: str, number: int) -> Document:
    """What a device has at least, in the size of one with a site, two tags and a pinned key."""
    return {
        "_id": _device_id(number),
        "org_id": org_id,
        "name": f"switch-{number:06}",
        "live": True,
        "host": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        "device_type": "cisco_ios",
        "site": f"site-{number % 500}",
        "tags": ["access", f"rack-{number % 40}"],
        "search": f"switch-{number:06}",
        "host_key_fingerprint": f"SHA256:{number:043}",
    }
