"""The event stream: `GET /api/events`, server-sent events (manual/use/events.md).

The stream begins now; with the header Last-Event-ID it begins behind that event, if it is from the last five
minutes. Where events may be missing the client gets `reset`. An id that no stream of this service has sent is
a 400: a client that makes up ids would otherwise read a stream with holes and never know.
"""

import logging
from contextlib import aclosing, suppress
from typing import Any, cast

from tornado.iostream import StreamClosedError

from netautod.activity.events.models import Resumed
from netautod.activity.events.schemas import EventsQuery
from netautod.activity.events.service import EventService
from netautod.activity.events.streaming.listener import GONE, Listener
from netautod.activity.events.streaming.stream import EventStream
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

logger = logging.getLogger(__name__)
MEDIA_TYPE = "text/event-stream"


class EventsHandler(JsonHandler):
    events: EventService
    # Not annotated: an annotation would request a service.
    _listener = cast("Listener | None", None)

    @any_token(query=EventsQuery, produces=MEDIA_TYPE, errors=(404,))
    async def get(self) -> None:
        """Stream server-sent events: what happens in the organization, as far as the caller may see it.

        `execution`, `log` (with `execution_id` alone) and `approval` need `tasks.operate`, `poll` and
        `config` need `devices.access`, those of plugins what these say. Each has an `id` and JSON `data`. The
        header `Last-Event-ID` resumes the stream behind that event, for five minutes and at any node; `reset`
        says that events may be missing, `end` why the stream ends. A comment comes every 15 seconds.
        """
        given = self.request.headers.get("Last-Event-ID", "")
        resumed = Resumed.parse(given) if given else None
        execution_id = self.query.get("execution_id")
        async with self.events.stream(
            self.caller, self.admission.bearer_token(), execution_id, resumed
        ) as stream:
            self.set_header("Content-Type", MEDIA_TYPE)
            self.set_header("X-Accel-Buffering", "no")  # of nginx: events go out as they come
            if self.request.method == "HEAD":
                return
            await self._send_events(stream)

    async def _send_events(self, stream: EventStream) -> None:
        connection, listener = cast(Any, self.request.connection), stream.listener
        self._listener = listener
        listener.close = connection.stream.close
        connection.goes_on()
        self.end_patience()
        with suppress(StreamClosedError):
            async with aclosing(stream.parts()) as parts:
                async for part in parts:
                    self.write(part)
                    listener.sending = True
                    await self.flush()
                    listener.sending = False
                    self.request_log.finish(
                        200
                    )  # logged at its beginning: the length of the stream is no response time

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if self._listener is not None:
            self._listener.end(GONE)


ROUTES = (Route(path="/api/events", handler=EventsHandler),)
