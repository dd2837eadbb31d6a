"""The queries that the stores really send, as the database itself tells them: which index serves which.

tests/data/plans.csv lists them; a query that it does not know has to find an index, and an order in it.
tests/data/background_plans.csv has those of periodic work, which come or not with the time that a run takes.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.assembly.test_permissions import Walk, concrete, walk
from tests.support.profiler import Entry, Profile, profiled

__all__ = ["walk"]
pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[1] / "data"
Line = tuple[str, ...]
"""Collection, fields of the filter, sort, index. An index of another kind of scan has its name in front."""
# What one installation or one user has few of, and what is sorted there.
WHOLE = {
    "nodes": "the nodes that run",
    "notes_vaults": "one for each organization",
    "signing_keys": "those of the last hours",
    "webhooks": "at most a hundred of each organization, which every node knows by heart",
}
SORTED = {
    "sessions": "those of one user that live",
    "api_tokens": "those of one user",
    "tasks": "those of one organization, by name",
    "users": "the first three of a role, to name them in a refusal",
    "nodes": "the nodes that run",
}
SOME = "6f2ad9d8-4a25-4a3f-8d53-0a4f2f1d8a11"
# By the name of the parameter; others take what their schema allows.
SAMPLES = {
    "user_id": SOME,
    "actor_id": SOME,
    "source_id": SOME,
    "task_id": SOME,
    "device_id": SOME,
    "credential_id": SOME,
    "since": "2026-01-01T00:00:00Z",
    "until": "2026-01-01T00:00:00Z",
    "task_type": "backup",
    "mac": "00:00:5e:00:53:01",
    "ip": "192.0.2.1",
}


def listed(name: str) -> set[Line]:
    with (DATA / name).open(newline="") as file:
        return {tuple(row) for row in csv.reader(file, delimiter=";")}


@pytest.fixture(scope="module")
async def sent(walk: Walk, mongo_uri: str) -> list[Entry]:
    """Return the queries that reading every route with each of its parameters and every deletion sends."""
    client = await walk.logged_in("admin")
    paths = (await client.get("/api/openapi.json")).json["paths"]
    found: list[Entry] = []
    with profiled(walk.installation.database, mongo_uri) as profile:
        for path, operations in sorted(paths.items()):
            if "get" not in operations:
                continue
            for query in ("", *_queries(operations["get"])):
                await client.get(_concrete(path, walk) + query)
                found += _planned(profile)
        for path in sorted(walk.ids, key=lambda path: (path != "/api/devices", path)):
            if f"{path}/{{id}}" in paths and "delete" in paths[f"{path}/{{id}}"]:
                await client.delete(f"{path}/{walk.ids[path]}")
                found += _planned(profile)
    return found


def test_the_known_queries_are_served_by_their_indexes(sent: list[Entry]) -> None:
    found, expected = _by_query(map(_line, sent)), _by_query(listed("plans.csv"))
    known = _by_query(listed("background_plans.csv")) | expected
    others = {query: found[query] for query in found.keys() & known.keys() if found[query] - known[query]}
    assert others == {}
    unknown = sorted(
        ";".join((*query, index)) for query in found.keys() - known.keys() for index in found[query]
    )
    assert not unknown, "\n".join(
        ("Add to tests/data/plans.csv, if the index behind each is the right one:", *unknown)
    )
    seen = len(found.keys() & expected.keys()) / len(expected)
    assert seen > 0.9, (
        f"tests/data/plans.csv lists queries that nobody sends: {expected.keys() - found.keys()}"
    )


def test_no_query_looks_at_a_whole_collection(sent: list[Entry]) -> None:
    assert {_collection(entry) for entry in sent if "COLLSCAN" in entry["planSummary"]} <= set(WHOLE)


def test_no_list_is_sorted_in_memory(sent: list[Entry]) -> None:
    assert {_collection(entry) for entry in sent if entry.get("hasSortStage")} <= set(SORTED)


def _by_query(lines: Iterable[Line]) -> dict[Line, set[str]]:
    found: dict[Line, set[str]] = {}
    for *query, index in lines:
        found.setdefault(tuple(query), set()).add(index)
    return found


def _queries(operation: dict[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            yield f"?{parameter['name']}={_sample(parameter)}"


def _sample(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    if parameter["name"] in SAMPLES:
        return SAMPLES[parameter["name"]]
    if "enum" in schema:
        return str(schema["enum"][0])
    return {"boolean": "true", "integer": "1"}.get(str(schema.get("type")), "x")


def _concrete(path: str, walk: Walk) -> str:
    return concrete(path.replace("{", ":").replace("}", ""), walk.ids)


def _planned(profile: Profile) -> Iterator[Entry]:
    """Yield the queries, without those by the id alone."""
    for entry in profile.take():
        if entry.get("planSummary", "IDHACK") not in ("IDHACK", "EOF") and _condition(entry) is not None:
            yield entry


def _collection(entry: Entry) -> str:
    return str(entry["ns"]).partition(".")[2]


def _line(entry: Entry) -> Line:
    order = entry["command"].get("sort") or {}
    index = entry["planSummary"].replace("IXSCAN { ", "").replace(" }", "").replace("{ ", "")
    fields = sorted(_fields(_condition(entry) or {}))
    return (_collection(entry), " ".join(dict.fromkeys(fields)), _order(order), index)


def _order(order: dict[str, int]) -> str:
    return ", ".join(f"{field}: {direction}" for field, direction in order.items())


def _condition(entry: Entry) -> dict[str, Any] | None:
    """Return the filter of a command of any kind."""
    command = entry["command"]
    if command.get("pipeline"):
        condition: dict[str, Any] | None = command["pipeline"][0].get("$match")
        return condition
    for name in ("filter", "query", "q"):
        if name in command:
            return dict(command[name])
    return None


def _fields(condition: dict[str, Any]) -> Iterator[str]:
    for name, value in condition.items():
        if name in ("$and", "$or", "$nor"):
            for part in value:
                yield from _fields(part)
        else:
            yield name
