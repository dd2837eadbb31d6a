"""A listener at the event stream, as the node knows it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from netautod.core.identity.caller import Caller, OrgId

TOKEN, DRAINING, SLOW, GONE = "token", "draining", "slow", "gone"


@dataclass(kw_only=True, eq=False, slots=True)
class Listener:
    """A listener at the event stream.

    `caller` has the permissions that it had at `checked_at` (of the loop's clock). `token` is a secret.
    `since`: when it came. `stale_since`: it waits for a check of its token that began after that. `reading`,
    `reading_log`: the numbers of the next entries of the organization's journal and of the log's. `ended`:
    why it has to leave. `sending`: the client has not taken all yet. `close` ends the connection at once.
    """

    caller: Caller
    token: str = field(repr=False)
    since: datetime
    checked_at: float
    stale_since: float | None = None
    execution_id: str | None = None
    reading: int = 0
    reading_log: int = 0
    ended: str | None = None
    sending: bool = False
    close: Callable[[], None] = lambda: None
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def org_id(self) -> OrgId:
        return self.caller.org_id

    def end(self, reason: str) -> None:
        """End the stream with a last event; close the connection if the client does not even take what is
        being sent.
        """
        if self.ended is None:
            self.ended = reason
            if self.sending:
                self.close()
        self.wake.set()
