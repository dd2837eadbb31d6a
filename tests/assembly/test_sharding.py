"""The places of collections on a sharded cluster: each has one, and queries hold the shard key."""

import ast
import csv
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import netautod
from netautod.assembly.data.stores import INDEXES
from netautod.store.client import Collection, Database
from tests.support.cross_shard_queries import ACROSS, MANY, WALKS
from tests.support.execution import Does, World, manual_run, nothing, task
from tests.support.profiler import profiled
from tests.support.query_watch import Asked, fields_of, names_organization
from tests.support.sharding import FIRST_TO_CHANGE, ORGANIZATION, SHARDED, STAYING, UNSHARDED

ROOT = Path(netautod.__file__).parent
DATA = Path(__file__).parents[1] / "data"
OPENING = ("scoped", "collection")


def opened() -> Iterator[tuple[str, str]]:
    """Yield (how, name) of each collection that the code opens: `scoped(database, NAME)`,
    `.collection(NAME)`.
    """
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and _called(node) in OPENING:
                named = node.args[-1] if _called(node) == "scoped" else node.args[0]
                if isinstance(named, ast.Constant):
                    yield _called(node), str(named.value)
                elif isinstance(named, ast.Name) and named.id.isupper():
                    module = ".".join(("netautod", *path.relative_to(ROOT).with_suffix("").parts))
                    yield _called(node), getattr(import_module(module), named.id)


def _called(call: ast.Call) -> str:
    function = call.func
    return getattr(function, "id", getattr(function, "attr", ""))


def recorded() -> Iterator[tuple[str, str, str]]:
    """Yield (collection, fields of the filter, index) of the queries that stores are known to send."""
    for name in ("plans.csv", "background_plans.csv"):
        with (DATA / name).open(newline="") as file:
            for collection, fields, _, index in csv.reader(file, delimiter=";"):
                yield collection, fields, index


def test_every_collection_has_its_place_and_a_reason() -> None:
    names = {name for _, name in opened()} | {index.collection for index in INDEXES} | {"leases"}
    assert names == {*SHARDED, *UNSHARDED}
    assert not SHARDED.keys() & UNSHARDED.keys()
    assert all(key.reason and key.fields[0] == ORGANIZATION for key in SHARDED.values())
    assert all((*UNSHARDED.values(), *FIRST_TO_CHANGE.values(), *STAYING.values(), *WALKS.values()))
    assert all(across.reason for across in ACROSS.values())


def test_sharded_collections_are_opened_by_organization() -> None:
    """Check every collection; those of refused logins are opened by their scoped common base."""
    by_base = {"suspended_logins", "caller_suspensions"}
    assert {name for how, name in opened() if how == "scoped"} | by_base >= SHARDED.keys()


def test_every_unique_index_begins_with_the_key_or_is_to_be_changed() -> None:
    found = {
        (index.collection, tuple(field for field, _ in index.keys))
        for index in INDEXES
        if index.unique and index.collection in SHARDED
    }
    others = {
        (collection, fields)
        for collection, fields in found
        if fields[: len(SHARDED[collection].fields)] != SHARDED[collection].fields
    }
    assert others == set(FIRST_TO_CHANGE)


def test_queries_of_all_shards_keep_their_index() -> None:
    left = {
        (index.collection, " ".join(field for field, _ in index.keys))
        for index in INDEXES
        if (index.collection, tuple(field for field, _ in index.keys)) not in FIRST_TO_CHANGE.keys() - STAYING
    }
    named = {(collection, across.index) for (collection, _), across in ACROSS.items()}
    assert {one for one in named if one[1] not in ("", "_id")} <= left
    assert FIRST_TO_CHANGE.keys() >= STAYING.keys()


def test_the_recorded_queries_of_all_shards_go_through_the_index_that_is_named() -> None:
    """Compare the plans; one may name fields behind those of the index, as a part of an $or."""
    found: dict[tuple[str, str], set[str]] = {}
    for collection, fields, plan in recorded():
        if collection in SHARDED and ORGANIZATION not in fields.split():
            found.setdefault((collection, fields), set()).add(plan)
    for (collection, fields), plans in found.items():
        many = " ".join(sorted(MANY if name == "_id" else name for name in fields.split()))
        across = ACROSS.get((collection, fields)) or ACROSS[collection, many]
        used = {re.sub("^[A-Z_]+ ", "", plan).replace(": 1", "").replace(",", "") for plan in plans}
        assert any(index.startswith(across.index) for index in used), (collection, fields, used)


def test_whatever_has_a_condition_is_looked_at() -> None:
    """Find conditions by the names of parameters: add another name to tests/support/query_watch.py."""
    without = {"insert", "insert_many", "insert_in_order", "create_indexes", "indexes", "drop_index"}
    others = {"name", "require_room", "unacknowledged_by_others", "for_leases"}
    calls = {name: call for name, call in vars(Collection).items() if not name.startswith("_")}
    assert {name for name, call in calls.items() if not hasattr(call, "__wrapped__")} == without | others


@pytest.mark.parametrize(
    ("condition", "single", "fields", "named"),
    [
        pytest.param({"_id": "x"}, True, "_id", False, id="one by its id"),
        pytest.param({"_id": {"$in": ["x"]}}, True, "_ids", False, id="some by their ids"),
        pytest.param({"_id": "x", "at": 1}, False, "_ids at", False, id="one of a batch"),
        pytest.param({"_id": "x", "org_id": "o"}, True, "_id", True, id="of an organization"),
        pytest.param({"org_id": {"$in": ["o"]}}, True, "", True, id="of some"),
        pytest.param({"org_id": {"$nin": ["o"]}, "at": 1}, True, "at", False, id="of all but some"),
        pytest.param({"org_id": {"$gt": ""}}, True, "", False, id="of all"),
        pytest.param(
            {"$or": [{"a": 1, "org_id": "o"}, {"b": 1}]}, True, "a b", False, id="one branch is not"
        ),
        pytest.param({"$or": [{"a": 1, "org_id": "o"}, {"org_id": "o"}]}, True, "a", True, id="all are"),
        pytest.param({"$and": [{"a": 1}, {"org_id": "o"}]}, True, "a", True, id="one of all conditions is"),
        pytest.param({"$nor": [{"org_id": "o"}]}, True, "", False, id="what it is not"),
    ],
)
def test_a_condition_names_an_organization_or_does_not(
    condition: dict[str, Any], single: bool, fields: str, named: bool
) -> None:
    assert (fields_of(condition, single=single), names_organization(condition)) == (fields, named)


OF_THE_PRODUCT = """
async def one(tasks):
    await tasks.find_one({"_id": "x"})

async def some(tasks):
    await tasks.aggregate([{"$match": {"org_id": "o"}}, {"$match": {"name": "x"}}])
    await tasks.aggregate([{"$match": {"name": "x"}}, {"$match": {"type": "x"}}, {"$limit": 1}])
    change = {"$set": {"at": 1}}
    await tasks.update_batch([({"_id": "x", "org_id": "o"}, change), ({"_id": "y"}, change)])
    await tasks.distinct("name", where={"at": 1})
"""


async def test_queries_of_all_shards_are_recorded(database: Database, across: list[Asked]) -> None:
    module: dict[str, Any] = {"__name__": "netautod.made_up"}
    exec(compile(OF_THE_PRODUCT, "/netautod/made_up.py", "exec"), module)
    tasks, users = database.collection("tasks"), database.collection("users")
    await module["one"](tasks)
    await module["one"](users)
    await tasks.find_one({"_id": "x"})
    await module["some"](tasks)
    seen = [(one.collection, one.fields, one.is_listed) for one in across]
    assert str(across[0]) == "tasks: _id (netautod.made_up, line 3)"
    across.clear()
    assert seen == [
        ("tasks", "_id", False),
        ("tasks", "name type", False),
        ("tasks", "_ids", True),
        ("tasks", "at", False),
    ]


@pytest.mark.slow
async def test_the_end_of_an_attempt_holds_the_whole_key(indexed: Database, mongo_uri: str) -> None:
    """Check that it is one write, and not a query on all shards and a write."""
    world = World(database=indexed)
    with profiled(indexed, mongo_uri) as profile:
        async with world.node(Does(nothing)):
            by_hand = task()
            await world.add(by_hand)
            run = manual_run(by_hand)
            await world.executions.insert(run)
            await world.until(run, "completed")
        entries = profile.take("executions")
    ends = [
        set(entry["command"]["q"]) for entry in entries if entry["op"] == "update" and "q" in entry["command"]
    ]
    assert {"_id", "epoch", "owner", "state", *SHARDED["executions"].fields} in ends
