"""A process that writes a document for ever, 1, 2, 3 ..., and prints each number that was acknowledged.

`endless_writer.py URI DATABASE DATA_DIR ORG_ID DOCUMENT_ID FIRST`; the test kills it.
"""

import asyncio
import sys
from pathlib import Path

from netautod.app.parts.docs import documents_of, notes_of
from netautod.app.stores import Stores
from netautod.audit.service import AuditLog
from netautod.core.clock import SystemClock
from netautod.core.identity import Caller, OrgId
from netautod.core.retention import RetentionSettings
from netautod.docs.rendering.pool import RenderPool
from netautod.docs.settings import NotesVaultSettings
from netautod.store.client import connect
from netautod.vault.vault import Vault


async def write(uri: str, name: str, data_dir: Path, org_id: OrgId, document_id: str, first: int) -> None:
    database, clock = connect(uri, name), SystemClock()
    vault = await Vault.open(database, data_dir=data_dir, environ={})
    stores = Stores.of(database, RetentionSettings())
    audit = AuditLog(store=stores.audit, clock=clock)
    notes = notes_of(stores=stores, vault=vault, clock=clock, audit=audit, settings=NotesVaultSettings())
    parts = documents_of(stores=stores, notes=notes, renderer=RenderPool(), clock=clock, audit=audit)
    caller = Caller(user_id="writer", org_id=org_id, username="writer", permissions=frozenset({"*"}))
    number = first
    while True:
        await parts.documents.update(caller, document_id, {"content": str(number)})
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        number += 1


if __name__ == "__main__":
    uri, name, data_dir, org_id, document_id, first = sys.argv[1:]
    asyncio.run(write(uri, name, Path(data_dir), OrgId(org_id), document_id, int(first)))
