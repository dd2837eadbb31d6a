"""Tools for documents: agents read all but notes, and write into the category `outputs`."""

from collections.abc import Mapping, Sequence
from typing import Any

from marshmallow import fields, validate

from netautod.automation.agents.tools.contract import Arguments, Calling, Tool, rows
from netautod.core.errors import Forbidden
from netautod.core.schema.bases import Id, Integer
from netautod.documents.access import MANAGE, READ
from netautod.documents.models import CATEGORIES, NOTES, DocumentFilter
from netautod.documents.service import DocumentService
from netautod.plugin_api import ToolOutcome

OUTPUTS = "outputs"
READABLE = tuple(category for category in CATEGORIES if category != NOTES)
WRITABLE = ("text", "markdown", "json", "csv", "config")


class ListArguments(Arguments):
    category = fields.String(validate=validate.OneOf(READABLE))
    limit = Integer(load_default=50, validate=validate.Range(1, 100))
    offset = Integer(load_default=0, validate=validate.Range(0, 1_000_000))


class ReadArguments(Arguments):
    document_id = Id(required=True)
    first_line = Integer(load_default=1, validate=validate.Range(1, 10**7))
    lines = Integer(load_default=400, validate=validate.Range(1, 2000))


class WriteArguments(Arguments):
    name = fields.String(
        required=True,
        validate=[validate.Length(min=1, max=255), validate.Regexp(r"^[^\x00-\x1f\x7f-\x9f]+$")],
    )
    content = fields.String(required=True, validate=validate.Length(min=1, max=500_000))
    content_type = fields.String(load_default="markdown", validate=validate.OneOf(WRITABLE))


class DocumentTools:
    def __init__(self, documents: DocumentService) -> None:
        self._documents = documents

    def tools(self) -> Sequence[Tool]:
        return (
            Tool(
                name="list_documents",
                description="Lists documents (procedures, troubleshooting guides, templates, outputs).",
                permission=READ,
                parameters=ListArguments,
                run=self._list,
            ),
            Tool(
                name="read_document",
                description="Reads lines of a document.",
                permission=READ,
                parameters=ReadArguments,
                run=self._read,
            ),
            Tool(
                name="write_document",
                description="Stores a report as a new document of the category outputs.",
                permission=MANAGE,
                parameters=WriteArguments,
                run=self._write,
            ),
        )

    async def _list(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        wanted = DocumentFilter(category=arguments.get("category"), notes=False)
        found = self._documents.listed(calling.work.caller, wanted, content=False)
        shown = [
            {name: one.to_json()[name] for name in ("id", "name", "category", "content_type", "updated_at")}
            async for one in found
        ]
        first, limit = arguments["offset"], arguments["limit"]
        head = f"{len(shown)} documents, from {first + 1}:"
        return ToolOutcome(text=rows(head, shown[first : first + limit]), source="documents")

    async def _read(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        found = await self._documents.get(calling.work.caller, arguments["document_id"])
        if found.document.is_note:
            raise Forbidden("agents cannot read notes")
        first = arguments["first_line"]
        lines = (found.text or "").split("\n")[first - 1 : first - 1 + arguments["lines"]]
        source = f"document {found.document.name}"
        return ToolOutcome(text="\n".join(lines), source=source, first_line=first)

    async def _write(self, arguments: Mapping[str, Any], calling: Calling) -> ToolOutcome:
        calling.work.guard()
        made = await self._documents.create(calling.work.caller, {**arguments, "category": OUTPUTS})
        text = f"stored as document {made.document.id}"
        return ToolOutcome(text=text, source="documents", documents=(made.document.id,))
