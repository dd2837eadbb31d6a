"""Documents and their notes vault wired as the service wires them, on one or more nodes, served over HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from bson import encode

from netautod.assembly.documents import build_documents
from netautod.assembly.identity import build_lockout
from netautod.core.clock import Clock
from netautod.documents.content_types import ContentTypes
from netautod.documents.notes.service import NotesVault
from netautod.documents.rendering.pool import RenderPool
from netautod.documents.service import DocumentService
from netautod.documents.upkeep import DocumentUpkeep
from netautod.plugin_api import ContentType
from netautod.store.client import Database
from tests.support.client import Response, Tenant
from tests.support.installation import Installation, open_installation
from tests.support.serving import Serve

COLLECTIONS = ("documents", "document_versions", "notes_vaults", "audit_events")
ABSENT_ID = "00000000-0000-4000-8000-000000000000"
TEXT = {"name": "plan", "category": "outputs", "content_type": "text", "content": "first"}
NOTE = {**TEXT, "category": "notes"}
TEMPLATE = {**TEXT, "category": "templates", "content_type": "jinja"}
PASSPHRASE = "a long enough passphrase"


@dataclass(frozen=True, kw_only=True)
class Node(Tenant):
    """The parts of one node, for the organization that all nodes serve.

    `slept`: the seconds that would have been waited after wrong passphrases.
    """

    installation: Installation
    notes: NotesVault
    documents: DocumentService
    upkeep: DocumentUpkeep
    slept: list[float]

    async def create(self, fields: dict[str, Any] = TEXT, **more: Any) -> Any:
        return (await self.api.post("/api/docs", {**fields, **more})).expect(201)

    async def put(self, document: Any, **fields: Any) -> Any:
        return (await self.api.put(f"/api/docs/{document['id']}", fields)).expect()

    async def get(self, document: Any) -> Any:
        return (await self.api.get(f"/api/docs/{document['id']}")).expect()

    async def versions(self, document: Any) -> list[Any]:
        found: list[Any] = (await self.api.get(f"/api/docs/{document['id']}/versions")).expect()
        return found

    async def version(self, version: Any) -> Response:
        return await self.api.get(f"/api/docs/versions/{version['id']}")

    async def contents(self, document: Any) -> list[str]:
        """Return the contents of the versions, newest first."""
        return [(await self.version(one)).json["content"] for one in await self.versions(document)]

    async def restore(self, document: Any, version: Any) -> Response:
        return await self.api.post(f"/api/docs/{document['id']}/restore/{version['id']}")

    async def render(self, document: Any, **variables: Any) -> Any:
        return (await self.api.post(f"/api/docs/{document['id']}/render", {"variables": variables})).expect()


@dataclass(frozen=True, kw_only=True)
class Library:
    """A maker of nodes on one database."""

    database: Database
    data_dir: Path
    serve: Serve
    renderer: RenderPool

    async def node(
        self,
        *,
        org_id: str | None = None,
        clock: Clock | None = None,
        auto_lock: timedelta | None = None,
        of_plugins: Mapping[str, ContentType] | None = None,
    ) -> Node:
        made, slept = await open_installation(self.database, self.data_dir, clock=clock), list[float]()

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        notes = NotesVault(
            store=made.stores.notes,
            vault=made.vault,
            clock=made.clock,
            audit=made.audit,
            lockout=build_lockout(made, sleep=sleep),
            auto_lock=auto_lock,
        )
        parts = build_documents(made, renderer=self.renderer, types=ContentTypes(of_plugins), notes=notes)
        served = await self.serve(parts.documents, notes)
        return Node(
            installation=made,
            notes=notes,
            documents=parts.documents,
            upkeep=parts.upkeep,
            slept=slept,
            **served.administrator(org_id=org_id),
        )

    async def dump(self) -> bytes:
        """Return all documents, versions, vaults and audit events, as they are stored."""
        found = [row for name in COLLECTIONS for row in await self.database.collection(name).find({})]
        return b"".join(encode(row) for row in found)

    async def events(self) -> list[Any]:
        """Return (action, resource id) of the audit log, oldest first."""
        found = await self.database.collection("audit_events").find({}, sort=[("at", 1)])
        return [(event["action"], event["resource_id"]) for event in found]

    async def versions_of(self, document: Any) -> int:
        return await self.database.collection("document_versions").count({"document_id": document["id"]})
