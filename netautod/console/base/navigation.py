"""The links that every page has: what the caller may open."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.core.identity.caller import Caller

DEVICES, TASKS, CREDENTIALS = "devices.access", "tasks.operate", "credentials.manage"
DOCUMENTS, USERS, SYSTEM = "docs.read", "users.manage", "system.manage"


@dataclass(frozen=True, kw_only=True)
class Link:
    """An entry of the navigation; `permission` None: for any session."""

    path: str
    text: str
    permission: str | None
    of_administration: bool = False

    def leads_to(self, path: str) -> bool:
        """Return whether the page at `path` belongs to this entry."""
        return path == self.path or (self.path != "/" and path.startswith(f"{self.path}/"))


def _link(path: str, text: str, permission: str | None) -> Link:
    return Link(path=path, text=text, permission=permission)


def _administration(path: str, text: str, permission: str) -> Link:
    return Link(path=path, text=text, permission=permission, of_administration=True)


LINKS: Sequence[Link] = (
    _link("/", "Overview", DEVICES),
    _link("/devices", "Devices", DEVICES),
    _link("/search", "Search configs", DEVICES),
    _link("/find", "Find", DEVICES),
    _link("/topology", "Topology", DEVICES),
    _link("/tasks", "Tasks", TASKS),
    _link("/executions", "Executions", TASKS),
    _link("/approvals", "Approvals", TASKS),
    _link("/inventory", "Inventory", DEVICES),
    _link("/documents", "Documents", DOCUMENTS),
    _administration("/sites", "Sites", DEVICES),
    _administration("/credentials", "Credentials", CREDENTIALS),
    _administration("/users", "Users", USERS),
    _administration("/roles", "Roles", USERS),
    _administration("/audit", "Audit", SYSTEM),
    _administration("/nodes", "Nodes", SYSTEM),
    _administration("/plugins", "Plugins", SYSTEM),
    _administration("/webhooks", "Webhooks", SYSTEM),
)


def links_for(caller: Caller) -> list[Link]:
    """Return the links that the caller may open: none while the caller has to change something in the
    account.
    """
    if caller.blocked is not None:
        return []
    return [link for link in LINKS if link.permission is None or caller.can(link.permission)]
