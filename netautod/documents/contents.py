"""Contents of documents as text and as they are stored: their size limit, and the sealing of notes.

A sealed content is bound to its organization and document but not to one version: a version of a note is a
copy of the stored bytes, created without opening them.
"""

import asyncio

from netautod.core.errors import TooLarge
from netautod.core.identity.caller import OrgId
from netautod.documents.models import MAX_CONTENT_BYTES, Content
from netautod.secrets.vault import envelope
from netautod.secrets.vault.envelope import Place, Sealed
from netautod.secrets.vault.vault import THREAD_BYTES

COLLECTION = "documents"
FIELD = "content"
KEY_VERSION = 1  # a notes key is made once per organization and stays


def measure(text: str) -> int:
    """Return the number of bytes in UTF-8; raises TooLarge over 8 MiB."""
    size = len(text.encode())
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(f"content: larger than {MAX_CONTENT_BYTES} bytes")
    return size


def plain(text: str) -> Content:
    return Content(size=measure(text), text=text)


async def sealed(key: bytes, org_id: OrgId, document_id: str, text: str) -> Content:
    size = measure(text)
    place = _place(org_id, document_id)
    if size < THREAD_BYTES:
        made = envelope.seal(key, KEY_VERSION, place, text.encode())
    else:
        made = await asyncio.to_thread(envelope.seal, key, KEY_VERSION, place, text.encode())
    return Content(size=size, sealed=made.to_document())


async def open_content(key: bytes | None, org_id: OrgId, document_id: str, content: Content) -> str:
    """Return the text; `key` is needed for a sealed content only. Raises VaultError for one that was changed
    or moved.
    """
    if content.sealed is None:
        return content.text or ""
    assert key is not None
    place, value = _place(org_id, document_id), Sealed.from_document(content.sealed)
    if content.size < THREAD_BYTES:
        return envelope.unseal(key, place, value).decode()
    return (await asyncio.to_thread(envelope.unseal, key, place, value)).decode()


def _place(org_id: OrgId, document_id: str) -> Place:
    return Place(org_id=org_id, collection=COLLECTION, record=document_id, field=FIELD)
