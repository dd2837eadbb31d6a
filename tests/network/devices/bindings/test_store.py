"""What synchronisations ask the devices is answered by indexes, and one device has one live record here."""

from typing import Any

import pytest

from netautod.core.errors import Duplicate
from netautod.network.devices.bindings.store import bound_to
from netautod.network.devices.records.queries import COLLECTION
from netautod.store.client import Database, Document

KEY = "source:1"
ORG: Document = {"org_id": "o"}


def device(number: int, **fields: Any) -> Document:
    binding = {"key": f"source:{number % 3}", "external_id": str(number)}
    names = {"_id": f"d{number}", "name": f"d{number}"}
    return {**ORG, **names, "live": number % 2 == 0, "deleted_at": None, "bindings": [binding], **fields}


@pytest.fixture
async def devices(indexed: Database) -> Database:
    await indexed.collection(COLLECTION).insert_many([device(number) for number in range(300)])
    return indexed


@pytest.mark.parametrize(
    ("where", "most"),
    [
        pytest.param({"live": True, "bindings.key": KEY}, 50, id="all of a source"),
        pytest.param({"live": True, **bound_to(KEY, ["4", "10", "5"])}, 2, id="some of a source"),
        pytest.param({"live": False, **bound_to(KEY, ["1", "7", "5"])}, 2, id="deleted ones of a source"),
    ],
)
async def test_no_more_documents_are_read_than_are_meant(
    devices: Database, where: Document, most: int
) -> None:
    explain = {"find": COLLECTION, "filter": {**ORG, **where}}
    told = await devices._raw.command("explain", explain, verbosity="executionStats")
    stats = told["executionStats"]
    assert (stats["nReturned"], stats["totalDocsExamined"]) == (most, most)


async def test_a_device_of_an_inventory_is_one_live_device_here(devices: Database) -> None:
    collection = devices.collection(COLLECTION)
    same = device(4)["bindings"]
    with pytest.raises(Duplicate):
        await collection.insert(device(4, _id="x", name="x"))
    # Of the deleted ones there may be several, and another organization has a device of its own.
    await collection.insert(device(4, _id="y", name="y", live=False))
    await collection.insert({**device(4, _id="z"), "org_id": "other"})
    with pytest.raises(Duplicate):
        await collection.update({"_id": "d6"}, {"$set": {"bindings": [{"key": "source:9"}, *same]}})
    await collection.insert_many([device(4, _id=f"m{n}", name=f"m{n}", bindings=[]) for n in range(2)])
