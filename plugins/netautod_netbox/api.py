"""The REST API of one NetBox or Nautobot: which of the two it is, its version, and its lists page by page."""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from netautod.plugin_api import InventoryAccess, InventoryFailed, OutboundAnswer, RequestFailed
from netautod_netbox.errors import Malformed, Unfit, error_status, quote
from netautod_netbox.limits import Limits, PageSize
from netautod_netbox.retrying import RetryingClient
from netautod_netbox.urls import Query, base_of, url_of

T = TypeVar("T")
VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?!\d)")
TOKEN = re.compile(r"[\x21-\x7e]*")


@dataclass(frozen=True, kw_only=True)
class System:
    """A system, NetBox or Nautobot. Supported are the versions from `oldest` on and before `below`."""

    name: str
    version_key: str
    oldest: tuple[int, int]
    below: tuple[int, int]
    versions: str


class Api:
    """The API of one inventory. Raises InventoryFailed, AddressRefused and RequestFailed. `scheme` is the
    word before the token.
    """

    def __init__(self, access: InventoryAccess, system: System, *, scheme: str, limits: Limits) -> None:
        self._access = access
        self._system = system
        self._limits = limits
        authorization = f"{scheme} {access.token}" if access.token else ""
        self._client = RetryingClient(access, system=system.name, authorization=authorization, limits=limits)

    async def version(self) -> str | None:
        """Return the version; None if it is some other system. Raises InventoryFailed for a version that is
        not supported.
        """
        if not TOKEN.fullmatch(self._access.token):
            raise InventoryFailed("the token must consist of printable ASCII characters without spaces")
        answer = await self._client.get(lambda: self._url("status"), self._limits.status)
        if answer.status in (401, 403):
            raise self._refused(answer)
        version = _object(answer).get(self._system.version_key)
        if version is None:
            return None
        shown = quote(str(version), token=self._access.token)
        found = VERSION.match(version) if isinstance(version, str) else None
        if found is None:
            raise InventoryFailed(f"{self._system.name} answers with the unknown version {shown}")
        if not self._system.oldest <= (int(found[1]), int(found[2])) < self._system.below:
            raise InventoryFailed(
                f"{self._system.name} {shown} is not supported; supported is {self._system.versions}"
            )
        return shown

    async def first(self, path: str, query: Query, work: Callable[[bytes], T]) -> T:
        """Run `work` on a page of one object, within the shorter limits of a count."""
        query = (*query, ("limit", "1"))
        answer = await self._client.get(lambda: self._url(path, query), self._limits.count)
        return await self.read(self._good(answer), work)

    async def page(self, path: str, query: Query, size: PageSize, work: Callable[[bytes], T]) -> T:
        """Run `work` on the body of a page. The server may give fewer objects than `size` says."""
        return await self.read(await self.body(path, query, size), work)

    async def body(self, path: str, query: Query, size: PageSize) -> bytes:
        """Return the body of a page, for `read`."""

        def url() -> str:
            return self._url(path, (*query, ("limit", str(size.limit))))

        return self._good(await self._client.get(url, self._limits.page, size))

    async def read(self, body: bytes, work: Callable[[bytes], T]) -> T:
        """Run `work` on the body in a thread. InventoryFailed if it raises Malformed or Unfit."""
        try:
            return await asyncio.to_thread(work, body)
        except (Malformed, Unfit) as error:
            text = f"{self._system.name} gave an answer that is not understood: {error}"
            raise InventoryFailed(text) from error

    def _url(self, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
        return url_of(base_of(self._access.url), path, query)

    def _good(self, answer: OutboundAnswer) -> bytes:
        if answer.status != 200:
            raise self._refused(answer)
        return answer.body

    def _refused(self, answer: OutboundAnswer) -> InventoryFailed:
        return error_status(self._system.name, answer.status, answer.body, token=self._access.token)


def _object(answer: OutboundAnswer) -> dict[str, Any]:
    """Empty for anything but a JSON object: then it is some other system."""
    if answer.status != 200:
        return {}
    try:
        value = answer.json()
    except RequestFailed:
        return {}
    return value if isinstance(value, dict) else {}
