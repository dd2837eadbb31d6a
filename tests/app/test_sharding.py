"""Where collections would lie on a sharded cluster: all have their place, and queries hold the shard key."""

import ast
import csv
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import netautod
from netautod.app.data.stores import INDEXES
from netautod.store.client import Database
from netautod.store.sharding import ACROSS, FIRST_TO_CHANGE, ORGANIZATION, SHARDED, UNSHARDED
from tests.support.execution import Does, World, due_task, eventually, manual_run, nothing, task
from tests.support.profiler import Entry, profiled

ROOT = Path(netautod.__file__).parent
DATA = Path(__file__).parents[1] / "data"
OPENING = ("scoped", "collection")


def opened() -> Iterator[tuple[str, str]]:
    """(how, name) of each collection that the code opens: `scoped(database, NAME)`, `.collection(NAME)`."""
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


def recorded() -> Iterator[tuple[str, str]]:
    """(collection, fields of the filter) of the queries that stores are known to send."""
    for name in ("plans.csv", "background_plans.csv"):
        with (DATA / name).open(newline="") as file:
            for collection, fields, *_ in csv.reader(file, delimiter=";"):
                yield collection, fields


def test_every_collection_has_its_place_and_a_reason() -> None:
    names = {name for _, name in opened()} | {index.collection for index in INDEXES} | {"leases"}
    assert names == {*SHARDED, *UNSHARDED}
    assert not SHARDED.keys() & UNSHARDED.keys()
    assert all(key.reason and key.fields[0] == ORGANIZATION for key in SHARDED.values())
    assert all((*UNSHARDED.values(), *ACROSS.values(), *FIRST_TO_CHANGE.values()))


def test_whoever_is_sharded_names_the_organization_with_every_call() -> None:
    """Those of refused logins are opened by their common base, which is scoped, too."""
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


def test_the_recorded_queries_hold_the_organization_or_are_listed() -> None:
    across = {
        (collection, fields)
        for collection, fields in recorded()
        if collection in SHARDED and ORGANIZATION not in fields.split()
    }
    assert across <= set(ACROSS), across - set(ACROSS)


@pytest.mark.slow
async def test_from_a_tick_to_the_end_of_a_run_queries_hold_the_organization(
    indexed: Database, mongo_uri: str
) -> None:
    """What the nodes do over and over: fire, claim, renew, write, end; by hand and by schedule."""
    world = World(database=indexed)
    with profiled(indexed, mongo_uri) as profile:
        async with world.node(Does(nothing)):
            by_hand, scheduled = task(), due_task()
            await world.add(by_hand)
            await world.add(scheduled)
            run = manual_run(by_hand)
            await world.executions.insert(run)
            await world.until(run, "completed")
            await eventually(lambda: world.all(task_id=scheduled.id, state="completed"))
        entries = profile.take()
    asked = {(_collection(entry), _fields(entry)) for entry in entries if _condition(entry) is not None}
    sharded = {(collection, fields) for collection, fields in asked if collection in SHARDED}
    across = {one for one in sharded if ORGANIZATION not in one[1].split()}
    assert across <= set(ACROSS), across - set(ACROSS)
    whole = {one for one in sharded - across if {*SHARDED[one[0]].fields} <= {*one[1].split()}}
    assert ("executions", "_id epoch org_id owner state task_id") in whole  # the end of an attempt


def _collection(entry: Entry) -> str:
    return str(entry["ns"]).partition(".")[2]


def _condition(entry: Entry) -> dict[str, Any] | None:
    command = entry["command"]
    if command.get("pipeline"):
        found: dict[str, Any] | None = command["pipeline"][0].get("$match")
        return found
    return next((dict(command[name]) for name in ("filter", "query", "q") if name in command), None)


def _fields(entry: Entry) -> str:
    return " ".join(sorted(set(_named(_condition(entry) or {}))))


def _named(condition: dict[str, Any]) -> Iterator[str]:
    for name, value in condition.items():
        if name in ("$and", "$or", "$nor"):
            for part in value:
                yield from _named(part)
        else:
            yield name
