"""The model back end for every server that speaks OpenAI's chat completions."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

from netautod.plugin_api import (
    AddressRefused,
    GuardedClient,
    ModelFailed,
    ModelMessage,
    ModelReply,
    OutboundAnswer,
    OutboundRequest,
    RequestFailed,
    TlsPolicy,
    ToolDescription,
    device_text,
)
from netautod_agent import wire
from netautod_agent.settings import AgentSettings

TRIES = 5
FIRST_PAUSE = 1.0  # seconds, doubled with each try
LONGEST_PAUSE = 60.0
MOST_BYTES = 8 * 1024 * 1024
# A broken connection, an overloaded server: the same request may be answered later.
LATER = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


class ChatCompletions:
    """A client that retries what may succeed later, and waits as long as the server requests. `sleep` is for
    tests.
    """

    name: ClassVar[str] = "openai"

    def __init__(
        self, settings: AgentSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._settings = settings
        self._url = settings.base_url.rstrip("/") + "/chat/completions"
        self._key = settings.key()
        self._sleep = sleep

    async def complete(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolDescription], http: GuardedClient
    ) -> ModelReply:
        body = wire.request_of(self._settings.model, messages, tools)
        for number in range(1, TRIES + 1):
            try:
                return await self._once(http, body)
            except _Failed as failure:
                if number == TRIES or not failure.transient:
                    tried = f" ({number} tries)" if number > 1 else ""
                    raise ModelFailed(failure.text + tried, transient=failure.transient) from failure
                await self._sleep(max(failure.wait, min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (number - 1))))
        raise AssertionError("the last try returns or raises")

    async def _once(self, http: GuardedClient, body: bytes) -> ModelReply:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = OutboundRequest(
            url=self._url,
            method="POST",
            headers=headers,
            body=body,
            timeout_seconds=self._settings.timeout_seconds,
            max_bytes=MOST_BYTES,
            tls=TlsPolicy(ca_file=self._settings.ca_file),
        )
        try:
            answer = await http.fetch(request)
            if answer.status != 200:
                raise self._refusal(answer)
            return wire.reply_of(answer.json(), model=self._settings.model, sent=len(body))
        except AddressRefused as error:
            raise _Failed(f"the model's server cannot be used: {error.text}", transient=False) from error
        except RequestFailed as error:
            later = error.kind not in ("certificate", "redirect")
            raise _Failed(f"the model's server: {error.text}", transient=later) from error
        except _Failed:
            raise
        except ModelFailed as error:
            raise _Failed(error.text, transient=error.transient) from error

    def _refusal(self, answer: OutboundAnswer) -> "_Failed":
        error_text = _error_text(answer)
        text = f"the model's server answered {answer.status}" + (f": {error_text}" if error_text else "")
        if self._key:
            text = text.replace(self._key, "<hidden>")
        return _Failed(text, transient=answer.status in LATER, wait=_seconds(answer))


class _Failed(ModelFailed):
    """Raised when a request failed; `wait` is how long the server requests to be left alone, in seconds."""

    def __init__(self, text: str, *, transient: bool, wait: float = 0.0) -> None:
        super().__init__(text, transient=transient)
        self.wait = wait


def _error_text(answer: OutboundAnswer) -> str:
    try:
        found: Any = json.loads(answer.body)
        found = found["error"] if isinstance(found, dict) else None
        found = found["message"] if isinstance(found, dict) else found
    except (ValueError, KeyError, RecursionError):
        return ""
    return (device_text(found) or "")[:300] if isinstance(found, str) else ""


def _seconds(answer: OutboundAnswer) -> float:
    """Return the wait of a Retry-After header (RFC 9110, 10.2.3): a number of seconds, or a date."""
    value = answer.headers.get("Retry-After", "")
    if value.isascii() and value.isdigit():
        return min(LONGEST_PAUSE, float(value))
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    left = (until if until.tzinfo else until.replace(tzinfo=UTC)) - datetime.now(UTC)
    return min(LONGEST_PAUSE, max(0.0, left.total_seconds()))
