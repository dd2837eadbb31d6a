"""The context of a piece of work: the request of a person, or the run of a task."""

from dataclasses import dataclass, replace

from netautod.core.identity.caller import Caller, OrgId
from netautod.core.work.guard import Guard, Persist, ask_once, no_guard


@dataclass(frozen=True, kw_only=True)
class Work:
    """The context that a request or a run passes on down to the device and the database.

    `caller` is the caller of the request, or the owner in whose name a run acts. `guard` raises once the run
    may belong to another node; it is called before anything is sent or written. `persist` writes what has
    been done: for a run also after an outage of the database. `bulk` work is for many things at once: it lets
    work for a single thing go first, and shares its round trips to the database with others
    (store/batching.py). `execution_id` is that of a run, None for a request.
    """

    caller: Caller
    guard: Guard = no_guard
    persist: Persist = ask_once
    bulk: bool = False
    execution_id: str | None = None

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    @property
    def audit_details(self) -> dict[str, str]:
        """Return what audit events of this work say beside the caller."""
        return {} if self.execution_id is None else {"execution_id": self.execution_id}

    def under(self, guard: Guard) -> "Work":
        """Return the same work under another guard."""
        return replace(self, guard=guard)

    def unguarded(self) -> "Work":
        """Return the work without a guard: for facts that stay true when the run is lost, and for the end of
        a lease.
        """
        return replace(self, guard=no_guard)
