"""The plans of the queries that must not grow with the history, as the server itself tells them."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest

from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.network.configs.snapshots import Snapshots
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts.store import LOOSE
from netautod.network.devices.store import DeviceStore
from netautod.store.client import Database
from tests.support.profiler import profiled

ORG = OrgId("o")
NOW = SystemClock().now()
LONG, DEVICES = 2_000, 50


@pytest.fixture
async def filled(indexed: Database) -> Database:
    counts = {number: LONG if number == 0 else 3 for number in range(DEVICES)}
    await indexed.collection("configs").insert_many(
        [
            {
                "_id": f"{device}-{version}",
                "org_id": ORG,
                "device_id": f"d{device}",
                "version": version,
                "text_id": f"t{device}",
                "parts": [{"name": "a", "text_id": f"p{device}"}],
                "parts_at": NOW,
                "platform": "linux",
                "size": 7,
                "created_at": NOW - timedelta(minutes=version),
                "last_seen_at": NOW - timedelta(minutes=version),
            }
            for device, count in counts.items()
            for version in range(1, count + 1)
        ]
    )
    await indexed.collection("config_texts").insert_many(
        [{"_id": f"t{number}", "org_id": ORG, "touched_at": NOW} for number in range(300)]
    )
    await indexed.collection("devices").insert_many(
        [{"_id": f"d{number}", "org_id": ORG, "name": f"d{number}", "live": True} for number in range(300)]
    )
    return indexed


async def cost(database: Database, mongo_uri: str, asking: Awaitable[Any]) -> tuple[int, int]:
    """Index keys and documents that the server looked at for what is asked."""
    with profiled(database, mongo_uri) as profile:
        await asking
        return profile.cost()


async def test_the_newest_of_many_devices_costs_a_document_each(filled: Database, mongo_uri: str) -> None:
    ids = [f"d{number}" for number in range(DEVICES)]
    store = ConfigStore(filled)
    found = await store.newest_texts(ORG, [*ids, "absent"])
    assert {device_id: text.version for device_id, text in found.items()} == {"d0": LONG} | dict.fromkeys(
        ids[1:], 3
    )
    keys, documents = await cost(filled, mongo_uri, store.newest_texts(ORG, ids))
    assert documents == DEVICES
    assert keys <= 3 * DEVICES


async def test_counting_versions_reads_no_document(filled: Database, mongo_uri: str) -> None:
    versions = ConfigStore(filled)
    assert await versions.devices_with_more_than(3) == [(ORG, "d0")]
    _, documents = await cost(filled, mongo_uri, versions.devices_with_more_than(3))
    assert documents == 0


@pytest.mark.parametrize(
    "what", ["a text", "the text of a part", "drafts", "old tombstones", "loose texts", "unseen versions"]
)
async def test_what_retention_looks_for_every_hour_is_found_by_index(
    filled: Database, mongo_uri: str, what: str
) -> None:
    asked: dict[str, Awaitable[Any]] = {
        "a text": ConfigStore(filled).names_text(ORG, "t0"),
        "the text of a part": ConfigStore(filled).names_text(ORG, "p1"),
        "drafts": Snapshots(filled, configs=ConfigStore(filled), clock=SystemClock()).drafts(before=NOW),
        "old tombstones": DeviceStore(filled).buried_before(NOW),
        "loose texts": filled.collection("config_texts").find({**LOOSE, "touched_at": {"$lt": NOW}}),
        "unseen versions": ConfigStore(filled).devices_with_unseen(NOW - timedelta(minutes=LONG)),
    }
    wanted = asked.pop(what)
    for other in asked.values():
        other.close()  # type: ignore[attr-defined]
    _, documents = await cost(filled, mongo_uri, wanted)
    assert documents <= 1
