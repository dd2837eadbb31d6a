"""Indexes: each resource declares its own; a migration makes them all, and every start what is missing.

Those that are declared no more are dropped by name, and no others.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymongo import IndexModel
from pymongo.errors import OperationFailure

from netautod.core.errors import Duplicate, NetautodError
from netautod.core.work.guard import Guard, no_guard
from netautod.store.client import Collection, Database

# Server codes: IndexOptionsConflict, IndexKeySpecsConflict (src/mongo/base/error_codes.yml).
CHANGED = (85, 86)
NOT_FOUND = 27  # IndexNotFound
# What decides which documents an index has, in which order, and how long they last.
_OPTIONS = ("unique", "partialFilterExpression", "expireAfterSeconds", "sparse", "collation")


class NotUniqueError(NetautodError):
    """A unique index cannot be made of what is stored; one line for the operator."""


@dataclass(frozen=True, kw_only=True)
class Index:
    """An index: `keys` in order, 1 or -1; `partial` is a partial filter; `expire_seconds` makes it a TTL
    index.
    """

    collection: str
    keys: tuple[tuple[str, int], ...]
    unique: bool = False
    partial: Mapping[str, Any] = field(default_factory=dict)
    expire_seconds: int | None = None

    @property
    def name(self) -> str:
        return "_".join(f"{key}_{direction}" for key, direction in self.keys)

    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"name": self.name, "unique": self.unique}
        if self.partial:
            options["partialFilterExpression"] = dict(self.partial)
        if self.expire_seconds is not None:
            options["expireAfterSeconds"] = self.expire_seconds
        return options

    def model(self) -> IndexModel:
        return IndexModel(list(self.keys), **self.options())

    def is_as(self, found: Mapping[str, Any]) -> bool:
        """Return whether the index of this name that a database has (Collection.indexes) is the declared
        one."""
        return list(self.keys) == list(found["key"]) and _set_in(self.options()) == _set_in(found)


def _set_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that mean something: `unique: false` equals no `unique`, but zero seconds are
    seconds.
    """
    given = {name: options.get(name) for name in _OPTIONS}
    return {name: value for name, value in given.items() if value is not None and value is not False}


def fingerprint(indexes: Iterable[Index]) -> str:
    """Return a hash that is the same for the same definitions in any order."""
    definitions = sorted(
        repr((index.collection, index.keys, sorted(index.options().items()))) for index in indexes
    )
    return hashlib.sha256("\n".join(definitions).encode()).hexdigest()[:16]


async def create_indexes(database: Database, indexes: Iterable[Index], *, guard: Guard = no_guard) -> None:
    """Create missing indexes, and replace one whose definition changed between releases.

    Raises NotUniqueError where records are equal that must not be.
    """
    by_collection: dict[str, list[Index]] = {}
    for index in indexes:
        by_collection.setdefault(index.collection, []).append(index)
    for name, wanted in by_collection.items():
        guard()
        try:
            await _create_all(database.collection(name), wanted, guard)
        except Duplicate as error:
            fields = " and ".join(error.fields)
            raise NotUniqueError(f"{name} has several records with the same {fields}") from error


async def drop_indexes(
    database: Database, dropped: Iterable[tuple[str, str]], *, guard: Guard = no_guard
) -> None:
    """Drop the existing ones among these indexes, given by collection and name."""
    by_collection: dict[str, list[str]] = {}
    for collection, name in dropped:
        by_collection.setdefault(collection, []).append(name)
    for collection, names in by_collection.items():
        guard()
        found = await database.collection(collection).indexes()
        for name in found.keys() & names:
            await _drop(database.collection(collection), name)


async def _create_all(collection: Collection, wanted: Sequence[Index], guard: Guard) -> None:
    try:
        await collection.create_indexes(*(index.model() for index in wanted))
    except OperationFailure as error:
        if error.code not in CHANGED:
            raise
        for index in wanted:
            guard()
            await _create(collection, index)


async def _create(collection: Collection, index: Index) -> None:
    try:
        await collection.create_indexes(index.model())
    except OperationFailure as error:
        if error.code not in CHANGED:
            raise
        await _drop(collection, index.name)
        await collection.create_indexes(index.model())


async def _drop(collection: Collection, name: str) -> None:
    try:
        await collection.drop_index(name)
    except OperationFailure as error:
        if error.code != NOT_FOUND:  # another node has been at it
            raise
