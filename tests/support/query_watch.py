"""What the product asks of all shards, seen where the queries of all stores meet: the calls of `Collection`.

A query of a sharded collection that does not name the organization has to be in `ACROSS`, or to come from one
of the modules of `WALKS` (tests/support/cross_shard_queries.py). What a test asks by itself is no matter of
the product's.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import netautod
from netautod.store.client import Collection
from tests.support.cross_shard_queries import ACROSS, MANY, WALKS
from tests.support.sharding import ORGANIZATION, SHARDED

STORE = f"{Path(netautod.__file__).parent / 'store'}/"
TESTS = f"{Path(__file__).parents[1]}/"


class Asked(NamedTuple):
    """`fields` as in ACROSS; `modules`: from who asks inwards to the last within the store."""

    collection: str
    fields: str
    modules: tuple[str, ...]
    line: int

    @property
    def is_listed(self) -> bool:
        return (self.collection, self.fields) in ACROSS or not WALKS.keys().isdisjoint(self.modules)

    def __str__(self) -> str:
        return f"{self.collection}: {self.fields or 'no condition'} ({self.modules[0]}, line {self.line})"


@contextmanager
def watched() -> Iterator[list[Asked]]:
    """The list grows with each query that does not name an organization, until the end of the block."""
    asked: list[Asked] = []
    before = {name: call for name, call in vars(Collection).items() if _holding(call) is not None}
    for name, call in before.items():
        setattr(Collection, name, _told(call, asked))
    yield asked
    for name, call in before.items():
        setattr(Collection, name, call)


def names_organization(condition: Mapping[str, Any]) -> bool:
    """Whether it is about some organizations, so that only their shards are asked."""
    own = condition.get(ORGANIZATION)
    if isinstance(own, Mapping):
        return own.keys() <= {"$in", "$eq"}
    parts, branches = condition.get("$and", ()), condition.get("$or", ())
    return (
        own is not None
        or any(map(names_organization, parts))
        or bool(branches and all(map(names_organization, branches)))
    )


def fields_of(condition: Mapping[str, Any], *, single: bool = True) -> str:
    """`single`: an id is that of the one document that is meant."""
    names = set()
    for name, value in _named(condition):
        many = name == "_id" and (not single or isinstance(value, Mapping))
        names.add(MANY if many else name)
    return " ".join(sorted(names - {ORGANIZATION}))


def _named(condition: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in condition.items():
        if name in ("$and", "$or", "$nor"):
            for part in value:
                yield from _named(part)
        else:
            yield name, value


def _leading(pipeline: Any) -> Mapping[str, Any]:
    """What the first stages match together."""
    stages = []
    for stage in pipeline:
        if "$match" not in stage:
            break
        stages.append(stage["$match"])
    return {"$and": stages} if stages else {}


# How a parameter of a call of `Collection` holds conditions, by the name that it has in all of them.
CONDITIONS: Mapping[str, Callable[[Any], list[Mapping[str, Any]]]] = {
    "where": lambda where: [where],
    "wheres": list,
    "changes": lambda changes: [where for where, _ in changes],
    "pipeline": lambda pipeline: [_leading(pipeline)],
}


def _holding(call: Any) -> tuple[int, str] | None:
    """Position and name of the parameter of a call that holds conditions."""
    names = list(signature(call).parameters) if callable(call) else []
    return next(((at, name) for at, name in enumerate(names) if name in CONDITIONS), None)


def _told(call: Any, asked: list[Asked]) -> Any:
    holding = _holding(call)
    assert holding is not None
    at, name = holding

    @wraps(call)
    def told(*args: Any, **named: Any) -> Any:
        collection = args[0].name
        if collection in SHARDED:
            for condition in CONDITIONS[name](args[at] if len(args) > at else named[name]):
                if not names_organization(condition):
                    fields = fields_of(condition, single=name in ("where", "pipeline"))
                    _note(asked, collection, fields, sys._getframe(1))
        return call(*args, **named)

    return told


def _note(asked: list[Asked], collection: str, fields: str, frame: FrameType | None) -> None:
    """Unless it is a test that asks."""
    modules: list[str] = []
    line = 0
    while frame is not None and not frame.f_code.co_filename.startswith(TESTS):
        if not frame.f_globals["__name__"].startswith("netautod"):
            break  # the event loop: the store works in a task of its own
        modules.insert(0, frame.f_globals["__name__"])
        line = frame.f_lineno
        if not frame.f_code.co_filename.startswith(STORE):
            break
        frame = frame.f_back
    else:
        return
    if modules:
        asked.append(Asked(collection, fields, tuple(modules), line))
