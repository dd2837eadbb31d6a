"""Queries of these pages, where they are not those of the API: secrets are never shown by a link."""

from netautod.core.schema.bases import Id, Query, QueryInteger, Text
from netautod.network.configs.schemas import DiffQuery

LAST_LINE = 2**31 - 1


class TextQuery(Query):
    """`line` leads to the piece of a long text that has it."""

    line = QueryInteger(low=1, cap=LAST_LINE, load_default=1)


class DiffPageQuery(DiffQuery):
    """`new_device_id`: of which device the newer version is, if not of the same; `other` is what a person
    calls it. `offset` counts rows."""

    class Meta(Query.Meta):
        exclude = ("secrets",)

    new_device_id = Id(load_default=None)
    other = Text(max_length=255, load_default=None)
    offset = QueryInteger(low=0, load_default=0)
