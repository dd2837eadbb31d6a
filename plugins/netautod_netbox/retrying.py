"""The GET requests with the token, repeated while the failure may be a passing one."""

import time
from collections.abc import Callable

from netautod.plugin_api import (
    InventoryAccess,
    InventoryFailed,
    OutboundAnswer,
    OutboundRequest,
    RequestFailed,
    TlsPolicy,
)
from netautod_netbox.errors import error_status
from netautod_netbox.limits import Limits, PageSize, RequestLimits, Tries

# Not a bad certificate, a redirect or a compressed answer: the next try would end the same.
PASSING = frozenset({"dns", "connect", "timeout", "answer"})


class RetryingClient:
    """A client that retries. `authorization` is the whole value of the header; with an empty one none is
    sent.
    """

    def __init__(self, access: InventoryAccess, *, system: str, authorization: str, limits: Limits) -> None:
        self._access = access
        self._system = system
        self._limits = limits
        self._headers = {"Accept": "application/json"}
        if authorization:
            self._headers["Authorization"] = authorization

    async def get(
        self, url: Callable[[], str], limits: RequestLimits, size: PageSize | None = None
    ) -> OutboundAnswer:
        """Return any answer but 429 and 5xx. `url` is called before each attempt: the page size may have
        changed.

        Raises RequestFailed, AddressRefused, or InventoryFailed for a 429 or 5xx that does not go away.
        """
        tries = Tries(self._limits, limits)
        while True:
            began = time.monotonic()
            outcome = await self._once(url(), tries.seconds, limits.most_bytes)
            took = time.monotonic() - began
            if isinstance(outcome, RequestFailed):
                if size is not None and outcome.kind == "answer":  # it may have been too large
                    size.shrink()
                failure: InventoryFailed | RequestFailed = outcome
                wait = tries.after_failure(took) if outcome.kind in PASSING else None
            elif outcome.status == 429 or outcome.status >= 500:
                failure = self._refused(outcome)
                wait = (
                    tries.after_throttling(outcome.headers.get("Retry-After"))
                    if outcome.status == 429
                    else tries.after_failure(took)
                )
            else:
                if size is not None:
                    size.took(took)
                return outcome
            if wait is None:
                raise failure
            await self._limits.sleep(wait)

    async def _once(self, url: str, seconds: float, most_bytes: int) -> OutboundAnswer | RequestFailed:
        request = OutboundRequest(
            url=url,
            headers=self._headers,
            timeout_seconds=seconds,
            max_bytes=most_bytes,
            tls=TlsPolicy(verify=self._access.verify_ssl),
        )
        try:
            return await self._access.http.fetch(request)
        except RequestFailed as error:
            return error

    def _refused(self, answer: OutboundAnswer) -> InventoryFailed:
        return error_status(self._system, answer.status, answer.body, token=self._access.token)
