"""A guarded client for tests: it sends nothing, and answers what the test says."""

import json as json_text
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from netautod.core.work.guard import Guard, no_guard
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient, OutboundAnswer, OutboundRequest
from netautod.transport.outbound.errors import AddressRefused
from netautod.transport.outbound.urls import origin_of

Answered = OutboundAnswer | Exception | Callable[[OutboundRequest], OutboundAnswer]


def http_answer(
    body: bytes | str = b"", *, json: Any = None, status: int = 200, headers: Mapping[str, str] | None = None
) -> OutboundAnswer:
    """Build an answer with this body, or with `json` as its body."""
    text = json_text.dumps(json) if json is not None else body
    content = text.encode() if isinstance(text, str) else text
    return OutboundAnswer(status=status, headers=dict(headers or {}), body=content)


class FakeGuardedClient(GuardedClient):
    """A client with prepared answers. `answers` are by URL, or by method and URL (`"POST https://x/y"`, which
    comes first).

    Each is an OutboundAnswer (`http_answer`), an exception to raise, a function of the request, or a list of
    these, used up one after the other. A URL that is not listed is refused with AddressRefused, as the
    service refuses addresses that are not allowed. `requests` are all that were made, refused ones too.
    """

    def __init__(self, answers: Mapping[str, Answered | Sequence[Answered]] | None = None) -> None:
        super().__init__(AddressRules())
        self.requests: list[OutboundRequest] = []
        self._answers: dict[str, list[Answered] | Answered] = {
            url: list(answer) if isinstance(answer, Sequence) else answer
            for url, answer in (answers or {}).items()
        }
        self._guard: Guard = no_guard

    def under(self, guard: Guard) -> Self:
        """Return a client that keeps the same requests, and calls `guard` before each."""
        made = type(self).__new__(type(self))
        made.__dict__ |= self.__dict__
        made._guard = guard
        return made

    def at(self, addresses: Sequence[str]) -> Self:
        """Return this client: nothing is connected to."""
        return self

    async def check(self, url: str) -> None:
        """Raise AddressRefused for a server of which no URL is listed."""
        listed = {str(origin_of(key.rpartition(" ")[2])) for key in self._answers}
        if str(origin_of(url)) not in listed:
            raise AddressRefused(f"{url} is not among the answers of this FakeGuardedClient")

    async def fetch(self, request: OutboundRequest) -> OutboundAnswer:
        """Return or raise what the test put in the place of an answer; AssertionError where a list is used
        up.
        """
        origin_of(request.url)  # a URL that is none is refused as by the real client
        self._guard()
        self.requests.append(request)
        for key in (f"{request.method} {request.url}", request.url):
            if key in self._answers:
                return _given(self._next(key), request)
        raise AddressRefused(f"{request.url} is not among the answers of this FakeGuardedClient")

    def _next(self, key: str) -> Answered:
        found = self._answers[key]
        if not isinstance(found, list):
            return found
        if not found:
            raise AssertionError(f"{key} was requested once more than there are answers")
        return found.pop(0)


def _given(answer: Answered, request: OutboundRequest) -> OutboundAnswer:
    if isinstance(answer, Exception):
        raise answer
    return answer if isinstance(answer, OutboundAnswer) else answer(request)
