"""A process that writes a document for ever, 1, 2, 3 ..., and prints each number that was acknowledged.

`endless_writer.py URI DATABASE DATA_DIR ORG_ID DOCUMENT_ID FIRST`; the test kills it.
"""

import asyncio
import sys
from itertools import count
from pathlib import Path

from netautod.assembly.documents import open_documents
from netautod.core.identity.caller import Caller, OrgId
from netautod.documents.content_types import ContentTypes
from netautod.store.connection import connect
from tests.support.installation import open_installation


async def write(uri: str, name: str, data_dir: Path, org_id: OrgId, document_id: str, first: int) -> None:
    installation = await open_installation(connect(uri, name), data_dir)
    caller = Caller(user_id="writer", org_id=org_id, username="writer", permissions=frozenset({"*"}))
    async with open_documents(installation, ContentTypes()) as opened:
        for number in count(first):
            await opened.documents.update(caller, document_id, {"content": str(number)})
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    uri, name, data_dir, org_id, document_id, first = sys.argv[1:]
    asyncio.run(write(uri, name, Path(data_dir), OrgId(org_id), document_id, int(first)))
