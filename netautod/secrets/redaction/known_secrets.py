"""Secrets that this process knows by their value: log lines and errors show `<hidden>` in their place."""

from collections.abc import Iterable

from netautod.core.logs.setup import OF_PLUGINS
from netautod.secrets.redaction.patterns import HIDDEN, without_secret_patterns

# A shorter one is a part of too many words; hiding those would tell what it is.
SHORTEST = 6


class KnownSecrets:
    """The secrets of the settings; they are registered once, at the start."""

    def __init__(self) -> None:
        self._values: tuple[str, ...] = ()

    def add(self, values: Iterable[str]) -> None:
        found = {value for value in values if len(value) >= SHORTEST}
        # The longer first: one may be a part of another.
        self._values = tuple(sorted({*self._values, *found}, key=lambda value: (-len(value), value)))

    def clear(self) -> None:
        self._values = ()

    def hide(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, HIDDEN)
        return text


KNOWN = KnownSecrets()
"""Those of this process."""


def hide_in_log(logger: str, text: str) -> str:
    """Return a text of the log without the secrets of the settings.

    What plugins write also loses what looks like a secret.
    """
    return KNOWN.hide(without_secret_patterns(text) if logger.startswith(OF_PLUGINS) else text)
