"""A file that a client sends: as the body itself, or as a field of a form (multipart/form-data, RFC 7578)."""

import asyncio
from email.message import Message

from tornado.httputil import HTTPFile, HTTPInputError, parse_multipart_form_data

from netautod.core.errors import InvalidInput


def media_type_of(content_type: str) -> tuple[str, str]:
    """Return the type without its parameters, and the boundary of a form; empty where there is none, or a bad
    one.

    A parameter may name a charset of its own (RFC 2231), which may be none or not fit what follows.
    """
    header = Message()
    header["Content-Type"] = content_type
    kind = header.get_content_type()
    if not kind.startswith("multipart/"):
        return kind, ""
    try:
        return kind, header.get_boundary() or ""
    except ValueError:  # UnicodeError is one
        return kind, ""


async def uploaded_file(body: bytes, content_type: str, field: str) -> bytes:
    """Return the field's file if the content type is that of a form, else the body as it is.

    Raises InvalidInput for a broken form, or one that does not have the field exactly once.
    """
    kind, boundary = media_type_of(content_type)
    if kind != "multipart/form-data":
        return body
    if not boundary:
        raise InvalidInput("Content-Type: the boundary of the form is missing")
    # In a thread: a form may have as many parts as fit in the body.
    found = await asyncio.to_thread(_parts, body, boundary, field)
    if len(found) != 1:
        raise InvalidInput(f"{field}: must be in the form once, not {len(found)} times")
    return found[0]


def _parts(body: bytes, boundary: str, field: str) -> list[bytes]:
    values: dict[str, list[bytes]] = {}
    files: dict[str, list[HTTPFile]] = {}
    try:
        parse_multipart_form_data(boundary.encode(), body, values, files)
    except (HTTPInputError, ValueError) as error:  # ValueError: a part's head is not UTF-8
        raise InvalidInput("The body is not a valid multipart/form-data") from error
    # A part without a file name is a plain value to Tornado.
    return [*values.get(field, []), *(file.body for file in files.get(field, []))]
