"""The contract of a plugin's storage, held by that of the service and by the one for tests of plugins."""

import json
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from netautod.plugin_api import PluginStorage, StorageFull, StorageRefused
from netautod.testing import MemoryStorage
from tests.automation.system.plugin_storage.conftest import QUOTA, World

Rule = Callable[[PluginStorage, str, str], Awaitable[None]]
VALUES: list[Any] = [
    {"name": "sw1", "ports": [1, 2.5, None, True], "deep": {"a": {"b": []}}},
    "text \u00e4 \U0001f511 <>&|$.",
    {"$gt": "", "a.b": {"$where": "1"}},
    [],
    0,
    None,
    False,
    -(2**63),
]
NO_VALUES: list[Any] = [
    {1: "a number as a name"},
    (1, 2),
    {"a": {1, 2}},
    b"bytes",
    object(),
    math.nan,
    math.inf,
    2**63,
    "\ud800",
    json.loads("[" * 70 + "]" * 70),
]
NO_KEYS: list[Any] = ["", "a b", "\u00e4", "a|b", "$a", "a\n", "a\x00", "k" * 201, None, 7, {"$ne": ""}]


async def it_keeps_json(storage: PluginStorage, ours: str, theirs: str) -> None:
    for value in VALUES:
        made = await storage.put(ours, "key", value)
        found = await storage.get(ours, "key")
        assert found == made
        assert (found.key, found.value, type(found.value)) == ("key", value, type(value))


async def it_refuses_what_is_no_json(storage: PluginStorage, ours: str, theirs: str) -> None:
    for value in NO_VALUES:
        with pytest.raises(StorageRefused, match="value"):
            await storage.put(ours, "key", value)
        with pytest.raises(StorageRefused, match="value"):
            await storage.compare_and_set(ours, "key", value, revision=None)
    assert await storage.get(ours, "key") is None


async def it_refuses_what_is_no_key(storage: PluginStorage, ours: str, theirs: str) -> None:
    for key in NO_KEYS:
        for call in (
            storage.get(ours, key),
            storage.put(ours, key, 1),
            storage.delete(ours, key),
            storage.compare_and_set(ours, key, 1, revision=None),
        ):
            with pytest.raises(StorageRefused, match="A key is 1 to 200 characters"):
                await call
    for wrong in ({"limit": 0}, {"limit": 1001}, {"prefix": "a b"}, {"after": "|"}, {"prefix": None}):
        with pytest.raises(StorageRefused):
            await storage.list(ours, **wrong)
    assert await storage.usage(ours) == await storage.usage(theirs)


async def it_compares_and_sets(storage: PluginStorage, ours: str, theirs: str) -> None:
    first = await storage.compare_and_set(ours, "key", 1, revision=None)
    assert first is not None
    assert await storage.compare_and_set(ours, "key", 2, revision=None) is None
    assert await storage.compare_and_set(ours, "key", 2, revision="another") is None
    second = await storage.compare_and_set(ours, "key", 2, revision=first.revision)
    assert second is not None
    assert second.revision != first.revision
    assert await storage.compare_and_set(ours, "key", 3, revision=first.revision) is None
    assert not await storage.delete(ours, "key", revision=first.revision)
    assert await storage.delete(ours, "key", revision=second.revision)
    assert not await storage.delete(ours, "key")
    assert await storage.compare_and_set(ours, "key", 3, revision=second.revision) is None
    assert await storage.get(ours, "key") is None


async def it_lists_by_prefix(storage: PluginStorage, ours: str, theirs: str) -> None:
    for key in ("b/2", "a/1", "b/10", "b", "c"):
        await storage.put(ours, key, key)
    await storage.put(theirs, "b/3", "theirs")

    async def keys(**options: Any) -> list[str]:
        return [row.key for row in await storage.list(ours, **options)]

    assert await keys() == ["a/1", "b", "b/10", "b/2", "c"]
    assert await keys(prefix="b/") == ["b/10", "b/2"]
    assert await keys(prefix="b/", after="b/10") == ["b/2"]
    assert await keys(limit=2) == ["a/1", "b"]
    assert await keys(after="c") == []
    assert await keys(prefix="x") == []
    assert [row.value for row in await storage.list(theirs)] == ["theirs"]


async def it_bounds_records_and_bytes(storage: PluginStorage, ours: str, theirs: str) -> None:
    with pytest.raises(StorageFull, match="key: the value is 301 bytes long, more than 300"):
        await storage.put(ours, "key", "x" * 299)
    for number in range(QUOTA.records):
        await storage.put(ours, f"k{number}", number)
    for call in (storage.put(ours, "more", 1), storage.compare_and_set(ours, "more", 1, revision=None)):
        with pytest.raises(StorageFull, match="5 records and 1000 bytes for an organization"):
            await call
    await storage.put(ours, "k0", "over an old one")
    await storage.put(theirs, "more", "of its own quota")
    assert await storage.delete(ours, "k1")
    await storage.put(ours, "more", 1)
    assert (await storage.usage(ours)).records == QUOTA.records
    for key in ("k0", "k2", "k3"):
        await storage.put(ours, key, "x" * 290)
    with pytest.raises(StorageFull):
        await storage.put(ours, "k4", "x" * 290)
    usage = await storage.usage(ours)
    rows = await storage.list(ours)
    size = sum(len(row.key) + len(json.dumps(row.value)) for row in rows)
    assert (usage.records, usage.bytes) == (5, size)
    await storage.put(ours, "k0", "")
    await storage.put(ours, "k4", "x" * 280)


RULES = (
    it_keeps_json,
    it_refuses_what_is_no_json,
    it_refuses_what_is_no_key,
    it_compares_and_sets,
    it_lists_by_prefix,
    it_bounds_records_and_bytes,
)


async def test_the_storage_of_the_service(world: World) -> None:
    """Use another plugin for each rule, so that none sees what the others have stored."""
    for rule in RULES:
        await rule(world.lend(rule.__name__), world.ours, world.theirs)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
async def test_the_storage_of_tests(rule: Rule) -> None:
    storage = MemoryStorage(records=QUOTA.records, bytes=QUOTA.bytes, value_bytes=QUOTA.value_bytes)
    await rule(storage, "org-1", "org-2")
