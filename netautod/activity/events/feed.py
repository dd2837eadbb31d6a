"""The protocols of the stores whose records the tailer derives events from."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from netautod.activity.events.models import Event
from netautod.core.identity.caller import OrgId
from netautod.store.client import Document


class Feed(Protocol):
    """The feed of one collection, whose documents show what happened to them.

    `watched`: the field whose change is an event; None: only a new document is one. `unneeded`: large fields
    that `derive` does not use.
    """

    @property
    def collection(self) -> str: ...

    @property
    def watched(self) -> str | None: ...

    @property
    def unneeded(self) -> Sequence[str]: ...

    def derive(self, document: Document) -> Iterable[Event]:
        """Return all events of a document, in order: the same on every node, at any time."""
        ...

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        """Yield the documents of these organizations that have changed since, maybe others as well."""
        ...


class LogLine(Protocol):
    @property
    def seq(self) -> int: ...

    def to_json(self) -> Mapping[str, object]: ...


class Logs(Protocol):
    """The lines of executions, which are numbered."""

    async def last_seq(self, org_id: OrgId, execution_id: str) -> int | None:
        """Return the number of the newest line, 0 without one; None if there is no such execution."""
        ...

    async def after(
        self, wanted: Mapping[str, tuple[OrgId, int]], limit: int
    ) -> Mapping[str, Sequence[LogLine]]:
        """Return the lines of each of these executions behind a number, in order.

        `wanted` gives organization and number by execution id. `limit` counts the lines of all.
        """
        ...
