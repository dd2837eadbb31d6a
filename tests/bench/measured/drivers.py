"""Three ways to call MongoDB from asyncio, behind the same few methods: what the driver itself costs."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient, MongoClient

from netautod.store.driver.lanes import LaneThreads

Raw = dict[str, Any]
T = TypeVar("T")
THREADS = 16


class Driver(Protocol):
    """The calls that the bare handlers and the bare loop make; `name` is that of a collection."""

    async def find_one(self, name: str, where: Raw, **options: Any) -> Raw | None: ...

    async def find(self, name: str, where: Raw, fields: Any = None, **options: Any) -> list[Raw]: ...

    async def count(self, name: str, where: Raw, **options: Any) -> int: ...

    async def aggregate(self, name: str, stages: Sequence[Raw]) -> list[Raw]: ...

    async def insert_many(self, name: str, documents: Sequence[Raw]) -> object: ...

    async def bulk_write(self, name: str, operations: Sequence[Any]) -> object: ...

    async def close(self) -> None: ...


class Motor:
    """The plain client that motor offers for asyncio."""

    def __init__(self, uri: str, database: str, **options: Any) -> None:
        self._client: AsyncIOMotorClient[Raw] = AsyncIOMotorClient(uri, tz_aware=True, **options)
        self._database = self._client[database]

    async def find_one(self, name: str, where: Raw, **options: Any) -> Raw | None:
        found: Raw | None = await self._database[name].find_one(where, **options)
        return found

    async def find(self, name: str, where: Raw, fields: Any = None, **options: Any) -> list[Raw]:
        found: list[Raw] = await self._database[name].find(where, fields, **options).to_list(None)
        return found

    async def count(self, name: str, where: Raw, **options: Any) -> int:
        return await self._database[name].count_documents(where, **options)

    async def aggregate(self, name: str, stages: Sequence[Raw]) -> list[Raw]:
        found: list[Raw] = await self._database[name].aggregate(stages).to_list(None)
        return found

    async def insert_many(self, name: str, documents: Sequence[Raw]) -> object:
        return await self._database[name].insert_many(documents, ordered=False)

    async def bulk_write(self, name: str, operations: Sequence[Any]) -> object:
        return await self._database[name].bulk_write(operations, ordered=False)

    async def close(self) -> None:
        self._client.close()


class Asynchronous:
    """PyMongo's own asynchronous client."""

    def __init__(self, uri: str, database: str, **options: Any) -> None:
        self._client: AsyncMongoClient[Raw] = AsyncMongoClient(uri, tz_aware=True, **options)
        self._database = self._client[database]

    async def find_one(self, name: str, where: Raw, **options: Any) -> Raw | None:
        return await self._database[name].find_one(where, **options)

    async def find(self, name: str, where: Raw, fields: Any = None, **options: Any) -> list[Raw]:
        return await self._database[name].find(where, fields, **options).to_list()

    async def count(self, name: str, where: Raw, **options: Any) -> int:
        return await self._database[name].count_documents(where, **options)

    async def aggregate(self, name: str, stages: Sequence[Raw]) -> list[Raw]:
        return await (await self._database[name].aggregate(list(stages))).to_list()

    async def insert_many(self, name: str, documents: Sequence[Raw]) -> object:
        return await self._database[name].insert_many(documents, ordered=False)

    async def bulk_write(self, name: str, operations: Sequence[Any]) -> object:
        return await self._database[name].bulk_write(list(operations), ordered=False)

    async def close(self) -> None:
        await self._client.close()


class Threads:
    """The blocking client, which is also motor's delegate, in threads of our own as the service calls it."""

    def __init__(self, uri: str, database: str, **options: Any) -> None:
        self._client: MongoClient[Raw] = MongoClient(uri, tz_aware=True, **options)
        self._database = self._client[database]
        self._threads = LaneThreads(THREADS, "calls")

    def _run(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        return self._threads.run(work)

    async def find_one(self, name: str, where: Raw, **options: Any) -> Raw | None:
        return await self._run(lambda: self._database[name].find_one(where, **options))

    async def find(self, name: str, where: Raw, fields: Any = None, **options: Any) -> list[Raw]:
        return await self._run(lambda: self._database[name].find(where, fields, **options).to_list())

    async def count(self, name: str, where: Raw, **options: Any) -> int:
        return await self._run(lambda: self._database[name].count_documents(where, **options))

    async def aggregate(self, name: str, stages: Sequence[Raw]) -> list[Raw]:
        return await self._run(lambda: self._database[name].aggregate(list(stages)).to_list())

    async def insert_many(self, name: str, documents: Sequence[Raw]) -> object:
        return await self._run(lambda: self._database[name].insert_many(documents, ordered=False))

    async def bulk_write(self, name: str, operations: Sequence[Any]) -> object:
        return await self._run(lambda: self._database[name].bulk_write(list(operations), ordered=False))

    async def close(self) -> None:
        self._threads.close()
        self._client.close()


DRIVERS: dict[str, Callable[..., Driver]] = {"motor": Motor, "threads": Threads, "pymongo": Asynchronous}
