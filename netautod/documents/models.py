"""Documents and their versions as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from netautod.core.json.values import to_text

MAX_CONTENT_BYTES = 8 * 1024 * 1024
NO_DOCUMENT = "Document not found"
NO_VERSION = "Version not found"
NOTES = "notes"
JINJA = "jinja"
CATEGORIES = ("outputs", "templates", NOTES, "backups", "history", "troubleshooting", "mops")
CONTENT_TYPES = ("text", "markdown", "json", "csv", JINJA, "config", "recording")


@dataclass(frozen=True, kw_only=True)
class Content:
    """A content as it is stored: `text`, or `sealed` under the notes key; `size` is its bytes in UTF-8."""

    size: int
    text: str | None = field(default=None, repr=False)
    sealed: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def is_sealed(self) -> bool:
        return self.sealed is not None


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document. `revision` counts the writes and guards them; `content` is None if it was not read."""

    id: str
    name: str
    category: str
    content_type: str
    parent_folder: str | None
    session_id: str | None
    created_at: datetime
    updated_at: datetime
    revision: int
    content: Content | None = None

    @property
    def is_note(self) -> bool:
        return self.category == NOTES


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedDocument:
    """The id, revision and time of a document, which tell its states apart: a list holds thousands of
    these."""

    id: str
    category: str
    revision: int
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The documents of a list in their order; `locked`: its notes are shown without their contents.

    `parts`: all of them, if they are few, each with the number of bytes of its content that were not read.
    """

    documents: Sequence[ListedDocument | Document]
    locked: bool = False
    parts: Sequence[tuple[Document, int]] = field(default=(), repr=False)

    @property
    def is_read(self) -> bool:
        """Return whether all of its documents and contents have been read."""
        return len(self.parts) == len(self.documents) and not any(size for _, size in self.parts)


@dataclass(frozen=True, kw_only=True)
class ShownDocument:
    """A document as a caller sees it; `text` is None if the content was not requested."""

    document: Document
    text: str | None = field(repr=False)
    locked: bool = False

    def to_json(self) -> dict[str, Any]:
        document = self.document
        content = {} if self.text is None else {"content": self.text}
        return {
            "id": document.id,
            "name": document.name,
            "category": document.category,
            "content_type": document.content_type,
            **content,
            "parent_folder": document.parent_folder,
            "session_id": document.session_id,
            "created_at": to_text(document.created_at),
            "updated_at": to_text(document.updated_at),
            "encrypted": document.is_note,
            "locked": self.locked,
        }


@dataclass(frozen=True, kw_only=True)
class DocumentVersion:
    """The content that a write replaced: that of `revision`, replaced at `created_at`."""

    id: str
    document_id: str
    revision: int
    created_at: datetime
    content: Content


@dataclass(frozen=True, kw_only=True)
class ShownVersion:
    version: DocumentVersion
    text: str = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.version.id,
            "document_id": self.version.document_id,
            "content": self.text,
            "created_at": to_text(self.version.created_at),
        }


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A write: metadata fields by name, the new text of a changed content (`restored`: of a version)."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = field(default=None, repr=False)
    restored: bool = False


@dataclass(frozen=True, kw_only=True)
class DocumentFilter:
    """The filters of a list; a `parent_folder` of "" means the documents without one.

    `q`: a part of the name, in any case. `notes` False: without notes.
    """

    category: str | None = None
    parent_folder: str | None = None
    content_type: str | None = None
    q: str | None = None
    notes: bool = True
