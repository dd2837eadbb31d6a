"""Documents as callers see them: opened, or empty while the notes vault is locked."""

from collections.abc import Iterator, Sequence

from netautod.core.identity.caller import OrgId
from netautod.core.schema.bulk_values import made
from netautod.documents import contents
from netautod.documents.models import Document, ShownDocument
from netautod.documents.notes.service import NotesVault

# Contents are held up to this many bytes together, and one more document.
CONTENTS_AT_ONCE = 1024 * 1024


async def show_documents(
    notes: NotesVault, org_id: OrgId, documents: Sequence[Document]
) -> list[ShownDocument]:
    """Return the documents in the same order; notes are empty while their vault is locked."""
    has_notes = any(document.is_note for document in documents)
    key = await notes.key_if_unlocked(org_id) if has_notes else None
    return [
        _plain(document) or await _shown_with(key, org_id, document)  # most are plain
        for document in documents
    ]


def _plain(document: Document) -> ShownDocument | None:
    """Return the shown document if nothing has to be opened for that, else None."""
    content = document.content
    if content is None or content.is_sealed or document.is_note:
        return None
    return made(ShownDocument, {"document": document, "text": content.text or "", "locked": False})


async def _shown_with(key: bytes | None, org_id: OrgId, document: Document) -> ShownDocument:
    locked = document.is_note and key is None
    if document.content is None:
        return ShownDocument(document=document, text=None, locked=locked)
    text = "" if locked else await contents.open_content(key, org_id, document.id, document.content)
    return ShownDocument(document=document, text=text, locked=locked)


def group_parts(parts: Sequence[tuple[Document, int]]) -> Iterator[list[Document]]:
    """Group the parts in order, with as many bytes left out in each group as may be in memory at once."""
    group: list[Document] = []
    held = 0
    for one, size in parts:
        if group and held + size > CONTENTS_AT_ONCE:
            yield group
            group, held = [], 0
        group.append(one)
        held += size
    if group:
        yield group
