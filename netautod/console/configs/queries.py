"""The queries of these pages where they differ from the API's: no link ever shows secrets."""

from netautod.core.schema.bases import Id, Query, QueryInteger, Text
from netautod.network.configs.schemas import DiffQuery

LAST_LINE = 2**31 - 1


class TextQuery(Query):
    """The query of a page of text; `line` leads to the piece of a long text that holds it."""

    line = QueryInteger(low=1, cap=LAST_LINE, load_default=1)


class DiffPageQuery(DiffQuery):
    """The query of a diff.

    `new_device_id` is the device of the newer version if it is another one; `other` is its name as a user
    types it. `offset` counts rows.
    """

    class Meta(Query.Meta):
        exclude = ("secrets",)

    new_device_id = Id(load_default=None)
    other = Text(max_length=255, load_default=None)
    offset = QueryInteger(low=0, load_default=0)
