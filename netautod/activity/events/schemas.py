"""The query of the event stream."""

from netautod.core.schema.bases import Id, Query


class EventsQuery(Query):
    """The query of the event stream.

    With `execution_id` the lines of its log come along.
    """

    execution_id = Id()
