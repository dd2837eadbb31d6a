"""The query of the event stream."""

from netautod.core.schema.bases import Id, Query


class EventsQuery(Query):
    """`execution_id`: the lines of its log come along."""

    execution_id = Id()
