"""Declarations of plugins: permissions, events, content types of documents."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema


@dataclass(frozen=True, kw_only=True)
class PluginPermission:
    """A permission of the plugin NAME: roles and API tokens hold it as `NAME.name`, of `a-z 0-9 _`."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class EventType:
    """An event of the plugin NAME, called `NAME.name`. `name` is of `a-z 0-9 _`.

    `permission`: the key that a user needs to receive it; None: every user of the organization does.
    `schema` describes its data, and checks what is published.
    """

    name: str
    description: str
    permission: str | None
    schema: type[Schema]


@dataclass(frozen=True, kw_only=True)
class ContentType:
    """A type of the contents of documents. `name` begins with a letter and holds `a-z 0-9 _ . + -`.

    `check(text)` raises ValueError, with a sentence, for a text that is not of this type: it is not stored.
    `render(text, variables)` makes a text of it, where there is one. Both are plain functions, called in a
    thread, and have ten seconds.
    """

    name: str
    description: str
    check: Callable[[str], None] | None = None
    render: Callable[[str, Mapping[str, Any]], str] | None = None
