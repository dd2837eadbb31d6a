"""The texts that a page shows: all pass here, whatever template prints them.

The value of a control of a form comes back with the form and is stored, so that it stays as it is. What
stands in `value="{{ ... }}"`, or in a text area, is found by itself; a macro that builds such a value has the
filter `form_value`.
"""

import re
from collections.abc import Iterable, Iterator

from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup

from netautod.core.text.printable import printable_lines

_VALUE = re.compile(r"\svalue=\"\Z")
_TEXT_AREA = re.compile(r"<(/?)textarea\b")


class FormValue(str):
    """A text that a control of a form holds."""

    __slots__ = ()


class FormControls(Extension):
    """An extension of the template engine that puts `(...)|form_value` where a control has its value."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Yield the tokens of a template, more where a control has its value."""
        is_value = in_text_area = False
        for token in stream:
            if token.type == "data":
                in_text_area = _ends_in_text_area(token.value, in_text_area)
                is_value = in_text_area or _VALUE.search(token.value) is not None
            if is_value and token.type == "variable_end":
                yield from _tokens(token.lineno, ("rparen", ")"), ("pipe", "|"), ("name", "form_value"))
            yield token
            if is_value and token.type == "variable_begin":
                yield from _tokens(token.lineno, ("lparen", "("))


def _ends_in_text_area(data: str, before: bool) -> bool:
    tags = _TEXT_AREA.findall(data)
    return not tags[-1] if tags else before


def _tokens(line: int, *found: tuple[str, str]) -> Iterator[Token]:
    return (Token(line, kind, value) for kind, value in found)


def form_value(value: object) -> object:
    """Return a value for a control of a form; markup, as a macro makes it, is one already."""
    return FormValue(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def visible(value: object) -> object:
    """Return what the template engine writes, which escapes its HTML afterwards."""
    is_ready = isinstance(value, FormValue | int | float) or hasattr(value, "__html__")
    return value if is_ready else printable_lines(str(value))
