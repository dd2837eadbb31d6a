"""XML of devices: parsed in pieces, without document types and entities; names without their namespaces."""

import asyncio
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

PIECE = 8 * 1024  # bytes that are parsed without a pause
BREATH = 2000  # elements that are renamed without a pause


class BadXml(Exception):
    """Raised for XML that cannot be read; `text` says why."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


async def parsed(message: bytes) -> Element:
    """Return the root, each element under its local name. Raises BadXml."""
    parser = DefusedXMLParser(forbid_dtd=True)
    try:
        for start in range(0, len(message), PIECE):
            parser.feed(message[start : start + PIECE])
            await asyncio.sleep(0)
        root: Element = parser.close()
    except (ParseError, DefusedXmlException, ValueError) as exc:
        raise BadXml(f"the answer is no XML that can be read ({type(exc).__name__})") from exc
    for count, element in enumerate(root.iter()):
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
        if count % BREATH == 0:
            await asyncio.sleep(0)
    return root


def text(element: Element | None, *path: str) -> str | None:
    """Return the text at the end of the path, without blanks around it; None for an empty one."""
    for name in path:
        element = None if element is None else element.find(name)
    found = "" if element is None else (element.text or "").strip()
    return found or None


def whole(element: Element | None, *path: str) -> int | None:
    found = text(element, *path)
    return int(found) if found is not None and found.isdecimal() and len(found) < 20 else None


def each(element: Element, name: str) -> Iterator[Element]:
    """Return all elements below that have the name, however deep."""
    return element.iter(name)
