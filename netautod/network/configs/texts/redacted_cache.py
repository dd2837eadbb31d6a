"""The redacted forms of texts: those that were read last, as one that many people look at is redacted once,
and what may be known of a text by those who read it redacted.
"""

from collections import OrderedDict

from netautod.core.identity.caller import OrgId
from netautod.core.loop.pace import in_thread_if_large
from netautod.network.configs.models import ShownForm
from netautod.network.configs.texts.shown_measure import measured_as_shown
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import clean_lines, redact
from netautod.transport.ssh.platform.redaction_rules import redaction_rules

MOST_CHARACTERS = 2 * 1024 * 1024


class ShownTexts:
    """A cache of redacted texts: it never keeps the text itself. A stored text does not change.

    Each device has its own, or how long an answer takes would tell that another device has the same text.
    """

    def __init__(self, readers: Platform, *, most: int = MOST_CHARACTERS) -> None:
        self.readers = readers
        self.rules = redaction_rules(readers)
        self._clean = clean_lines(readers)
        self._most = most
        self._kept: OrderedDict[tuple[OrgId, str, str], str] = OrderedDict()  # the one used last stands last
        self._size = 0

    async def of(self, org_id: OrgId, device_id: str, text_id: str, text: str) -> str:
        """Return the text with that id as `redact` redacts it."""
        key = (org_id, device_id, text_id)
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
        return await in_thread_if_large(len(text), redact, text, self.readers, self._clean)

    async def form(self, text: str, key: bytes) -> ShownForm:
        """Return the form to store with a version that has this text; `key` as of `measured_as_shown`."""
        found, size = await in_thread_if_large(len(text), self._measured, text, key)
        return ShownForm(config_hash=found, size=size, rules=self.rules)

    def _measured(self, text: str, key: bytes) -> tuple[str, int]:
        return measured_as_shown(redact(text, self.readers, self._clean), key)
