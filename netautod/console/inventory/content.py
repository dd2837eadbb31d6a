"""The content of an import: an uploaded file or a pasted text."""

import hashlib
from dataclasses import dataclass, field

from netautod.console.base.forms import Form, with_newlines
from netautod.core.errors import InvalidInput
from netautod.network.inventory.imports.csv_rows import CsvFile
from netautod.network.inventory.imports.file_text import without_marks
from netautod.network.inventory.imports.json_rows import JsonFile
from netautod.network.inventory.imports.models import RowFile

FILE, TEXT = "file", "text"
CSV, JSON = "csv", "json"
# A file of up to so many bytes comes back as a text in the form; a larger one has to be selected again.
CARRIED = 512 * 1024


@dataclass(frozen=True, kw_only=True)
class Content:
    """The content to import.

    `text` is what the form carries on; None if the content is too large, or no text.

    `digest` does not depend on line ends, because a form changes them.
    """

    body: bytes = field(repr=False)
    digest: str
    text: str | None = field(repr=False)


def content_of(form: Form) -> Content:
    """Return the uploaded file, else the pasted text.

    Raises InvalidInput if there is neither.
    """
    if FILE in form.files:
        body = form.files[FILE]
    else:
        body = with_newlines(form.secret(TEXT)).encode()
    if not body.strip():
        raise InvalidInput("text: Paste the rows, or select a file")
    return Content(body=body, digest=_digest(body), text=_text(body) if len(body) <= CARRIED else None)


def in_format(content: Content, wanted: str) -> RowFile:
    """Read the content in the selected format; without one an array is JSON, and anything else CSV.

    Raises InvalidInput if the content is not of this format.
    """
    if wanted not in ("", CSV, JSON):
        raise InvalidInput(f"format: Must be one of: {CSV}, {JSON}")
    if wanted == JSON or (not wanted and without_marks(content.body).lstrip().startswith(b"[")):
        return JsonFile(content.body)
    return CsvFile(content.body)


def _text(body: bytes) -> str | None:
    try:
        return with_newlines(without_marks(body).decode())
    except UnicodeDecodeError:
        return None


def _digest(body: bytes) -> str:
    plain = without_marks(body).replace(b"\r\n", b"\n")
    return hashlib.sha256(plain).hexdigest()
