"""One URL: its queue of events, posted in order by a task of its own."""

import asyncio
import logging
import random
import time
from datetime import UTC, datetime
from urllib.parse import urlsplit

from netautod.plugin_api import (
    AddressRefused,
    GuardedClient,
    OutboundRequest,
    RequestFailed,
    SignedMessage,
    TlsPolicy,
    asked_pause,
    retry_pause,
)
from netautod_webhook.retries import LONGEST, RETRIED, is_retried
from netautod_webhook.settings import WebhookSettings

logger = logging.getLogger(__name__)


class Receiver:
    """A receiver at one URL.

    `name` is what logs call it: the URL without the path, which may hold a secret.
    """

    def __init__(self, url: str, settings: WebhookSettings, http: GuardedClient) -> None:
        parts = urlsplit(url)
        self.name = f"{parts.scheme}://{parts.netloc}"
        self._url = url
        self._settings = settings
        self._http = http
        self._waiting: asyncio.Queue[SignedMessage] = asyncio.Queue(settings.queue)
        self._missed = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._post_waiting(), name=f"webhook {self.name}")

    def offer(self, message: SignedMessage) -> None:
        """Queue a message; drop it, counted in the log, if too many wait."""
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            if self._missed == 0:
                logger.error("%d events wait for %s: it misses events", self._waiting.qsize(), self.name)
            self._missed += 1
            return
        if self._missed:
            logger.error("%s has missed %d events", self.name, self._missed)
            self._missed = 0

    async def stop(self, seconds: float) -> None:
        """Continue for at most `seconds` with what waits; the rest is lost."""
        task = self._task
        if task is None:
            return
        drained = asyncio.create_task(self._waiting.join())
        await asyncio.wait({drained, task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        # join() counts the one that is under way, too.
        lost = self._waiting.qsize() + (not drained.done())
        for one in (drained, task):
            one.cancel()
        await asyncio.gather(drained, task, return_exceptions=True)
        if lost > 0 or self._missed:
            logger.error("%s: %d events are lost at the stop", self.name, lost + self._missed)

    async def _post_waiting(self) -> None:
        while True:
            message = await self._waiting.get()
            try:
                await self._deliver(message)
            except Exception:  # one message must not keep the others back
                logger.exception("event %s cannot be posted to %s", message.id, self.name)
            finally:
                self._waiting.task_done()

    async def _deliver(self, message: SignedMessage) -> None:
        settings, problem = self._settings, ""
        for tried in range(1, settings.tries + 1):
            problem, again, wait_seconds = await self._try(message)
            if not problem:
                return
            if not again or tried == settings.tries:
                break
            chance = random.random()
            wait = max(
                wait_seconds, retry_pause(tried, settings.retry_seconds, longest=LONGEST, chance=chance)
            )
            text = "event %s to %s: %s; again in %.1f s"
            logger.info(text, message.id, self.name, problem, wait, extra={"repeats": ("again", self.name)})
            await asyncio.sleep(wait)
        text = "event %s is not delivered to %s: %s"
        logger.error(text, message.id, self.name, problem, extra={"repeats": ("lost", self.name)})

    async def _try(self, message: SignedMessage) -> tuple[str, bool, float]:
        """Post once; return the error (empty: none), whether to try again, and the seconds to wait for."""
        request = OutboundRequest(
            url=self._url,
            method="POST",
            headers=message.headers(self._settings.secret, now=time.time()),
            body=message.body,
            timeout_seconds=self._settings.timeout_seconds,
            reads_body=False,
            tls=TlsPolicy(ca_file=self._settings.ca_file),
        )
        try:
            answer = await self._http.fetch(request)
        except AddressRefused as error:
            return error.text, False, 0.0
        except RequestFailed as error:
            return error.text, error.kind in RETRIED, 0.0
        if 200 <= answer.status < 300:
            return "", False, 0.0
        wait_seconds = asked_pause(answer.headers, datetime.now(UTC), longest=LONGEST)
        return f"it answered {answer.status}", is_retried(answer.status), wait_seconds
