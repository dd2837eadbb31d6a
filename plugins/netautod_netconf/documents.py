"""The content type `xml` of documents: payloads and replies of NETCONF, checked when they are stored."""

from collections.abc import Mapping
from typing import Any
from xml.dom.minidom import Element, Node
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser
from defusedxml.minidom import parseString

from netautod.plugin_api import ContentType

DEEPEST = 200
MOST_INDENTED = 1024 * 1024  # bytes; as long as an answer may be


class Depth:
    """A parser's target that drops all elements."""

    def __init__(self) -> None:
        self._depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"nested over {DEEPEST} levels deep")

    def end(self, tag: str) -> None:
        self._depth -= 1

    def close(self) -> None:
        """End the document."""


def check(text: str) -> None:
    """Raise ValueError for what is not well-formed, and for a DTD, which could expand a short text into a
    huge one.
    """
    parser = DefusedXMLParser(target=Depth(), forbid_dtd=True)
    try:
        parser.feed(text)
        parser.close()
    except ParseError as error:
        raise ValueError(f"{error}") from error
    except DefusedXmlException as error:
        raise ValueError("it has a DTD") from error


def indented(text: str, variables: Mapping[str, Any]) -> str:
    """Return the same document with one element on each line; prefixes and comments stay."""
    check(text)
    if len(text.encode()) > MOST_INDENTED:
        raise ValueError("larger than 1 MiB: it is shown as it is")
    document = parseString(text, forbid_dtd=True)
    if document.documentElement is not None:
        _strip(document.documentElement)
    made: str = document.toprettyxml(indent="  ")
    return made


def _strip(element: Element) -> None:
    """Remove the blanks between elements, where new ones come."""
    children = list(element.childNodes)
    elements = [child for child in children if child.nodeType == Node.ELEMENT_NODE]
    for child in children:
        if elements and child.nodeType == Node.TEXT_NODE and not child.data.strip():
            element.removeChild(child)
    for child in elements:
        _strip(child)


XML = ContentType(
    name="xml",
    description="Well-formed XML without a DTD, such as payloads of NETCONF; rendered indented.",
    check=check,
    render=indented,
)
