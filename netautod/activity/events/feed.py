"""What the tailer asks of those whose records events are derived from."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from netautod.activity.events.models import Event
from netautod.core.identity.caller import OrgId
from netautod.store.client import Document


class Feed(Protocol):
    """One collection whose documents tell what happened to them.

    `watched`: the field whose change is an event; None: only a new document is one. `unneeded`: large fields
    that `derive` does not look at.
    """

    @property
    def collection(self) -> str: ...

    @property
    def watched(self) -> str | None: ...

    @property
    def unneeded(self) -> Sequence[str]: ...

    def derive(self, document: Document) -> Iterable[Event]:
        """All that the document tells of, in its order: the same on every node, whenever it is asked."""
        ...

    def since(self, moment: datetime, orgs: Collection[OrgId]) -> AsyncIterator[Document]:
        """The documents of these organizations to which something happened since, maybe others as well."""
        ...


class LogLine(Protocol):
    @property
    def seq(self) -> int: ...

    def to_json(self) -> Mapping[str, object]: ...


class Logs(Protocol):
    """The lines of executions, which are numbered."""

    async def last_seq(self, org_id: OrgId, execution_id: str) -> int | None:
        """The number of the newest line, 0 without one; None if there is no such execution."""
        ...

    async def after(
        self, wanted: Mapping[str, tuple[OrgId, int]], limit: int
    ) -> Mapping[str, Sequence[LogLine]]:
        """Of each of these executions, by their organizations, the lines behind a number, in order.

        `limit` in all.
        """
        ...
