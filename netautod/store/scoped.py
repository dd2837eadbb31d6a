"""Collections whose documents belong to organizations: forgetting the organization is a type error."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.store.client import (
    Change,
    ChangeManyResult,
    Collection,
    Database,
    Document,
    Filter,
    InsertManyResult,
    Sort,
)


def scoped(database: Database, name: str) -> "OrgCollection":
    """Return the collection of that name, every call within one organization."""
    return OrgCollection(database.collection(name))


class OrgCollection:
    """A collection whose documents carry `org_id`; every call names the organization first."""

    def __init__(self, collection: Collection) -> None:
        self._all = collection

    @property
    def name(self) -> str:
        return self._all.name

    def require_room(self) -> None:
        """Raise DiskFull where an insert would."""
        self._all.require_room()

    async def find_one(
        self, org_id: OrgId, where: Filter, *, fields: Filter | None = None, sort: Sort | None = None
    ) -> Document | None:
        return await self._all.find_one(_within(org_id, where), fields=fields, sort=sort)

    async def find(
        self,
        org_id: OrgId,
        where: Filter,
        *,
        fields: Filter | None = None,
        sort: Sort | None = None,
        limit: int = 0,
        offset: int = 0,
        index: str | None = None,
    ) -> list[Document]:
        return await self._all.find(
            _within(org_id, where), fields=fields, sort=sort, limit=limit, offset=offset, index=index
        )

    def stream(
        self,
        org_id: OrgId,
        where: Filter,
        *,
        fields: Filter | None = None,
        sort: Sort | None = None,
        index: str | None = None,
    ) -> AsyncIterator[Document]:
        return self._all.stream(_within(org_id, where), fields=fields, sort=sort, index=index)

    async def count(self, org_id: OrgId, where: Filter, *, index: str | None = None) -> int:
        return await self._all.count(_within(org_id, where), index=index)

    async def distinct(self, org_id: OrgId, field: str, where: Filter) -> list[Any]:
        return await self._all.distinct(field, _within(org_id, where))

    async def aggregate(
        self, org_id: OrgId, pipeline: Sequence[Mapping[str, Any]], *, index: str | None = None
    ) -> list[Document]:
        return await self._all.aggregate([{"$match": {"org_id": org_id}}, *pipeline], index=index)

    async def insert(self, org_id: OrgId, document: Document) -> None:
        await self._all.insert({**document, "org_id": org_id})

    async def insert_many(self, org_id: OrgId, documents: Sequence[Document]) -> InsertManyResult:
        return await self._all.insert_many([{**document, "org_id": org_id} for document in documents])

    async def change_batch(
        self, org_id: OrgId, changes: Sequence[tuple[Filter, Change]], *, upsert: bool = False
    ) -> ChangeManyResult:
        scoped = [(_within(org_id, where), change) for where, change in changes]
        return await self._all.change_batch(scoped, upsert=upsert)

    async def update(self, org_id: OrgId, where: Filter, change: Change, *, upsert: bool = False) -> bool:
        return await self._all.update(_within(org_id, where), change, upsert=upsert)

    async def update_many(self, org_id: OrgId, where: Filter, change: Change) -> int:
        return await self._all.update_many(_within(org_id, where), change)

    async def find_and_update(
        self,
        org_id: OrgId,
        where: Filter,
        change: Change,
        *,
        upsert: bool = False,
        sort: Sort | None = None,
        before: bool = False,
    ) -> Document | None:
        return await self._all.find_and_update(
            _within(org_id, where), change, upsert=upsert, sort=sort, before=before
        )

    async def delete(self, org_id: OrgId, where: Filter) -> bool:
        return await self._all.delete(_within(org_id, where))

    async def delete_many(self, org_id: OrgId, where: Filter) -> int:
        return await self._all.delete_many(_within(org_id, where))


def _within(org_id: OrgId, where: Filter) -> Document:
    # The organization comes last: a filter that carries its own `org_id` cannot widen the scope.
    return {**where, "org_id": org_id}
