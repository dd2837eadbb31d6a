"""The redacted forms of the texts that were read last: one that many people look at is redacted once."""

from collections import OrderedDict

from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import in_thread_if_large
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import clean_lines, redact

MOST_CHARACTERS = 2 * 1024 * 1024


class ShownTexts:
    """A cache of redacted texts: it never keeps the text itself. A stored text does not change."""

    def __init__(self, readers: Platform, *, most: int = MOST_CHARACTERS) -> None:
        self._readers = readers
        self._clean = clean_lines(readers)
        self._most = most
        self._kept: OrderedDict[tuple[OrgId, str], str] = OrderedDict()  # the one used last stands last
        self._size = 0

    async def of(self, org_id: OrgId, text_id: str, text: str) -> str:
        """Return the text with that id as `redact` redacts it."""
        key = (org_id, text_id)
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return kept
        shown = await self.redacted(text)
        if key not in self._kept and len(shown) <= self._most:
            self._kept[key] = shown
            self._size += len(shown)
        while self._size > self._most:
            self._size -= len(self._kept.popitem(last=False)[1])
        return shown

    async def redacted(self, text: str) -> str:
        """Redact a text without the cache."""
        return await in_thread_if_large(len(text), redact, text, self._readers, self._clean)
