"""The names of auth providers: their form, and for which of them users may be created."""

import re
from collections.abc import Iterable

from netautod.core.errors import InvalidInput
from netautod.identity.users.models import AUTH_PROVIDERS

PROVIDER_FORM = re.compile(r"[a-z][a-z0-9_-]{0,31}")
FORM_TEXT = "1 to 32 characters of a-z 0-9 _ -, the first one a letter"


class ProviderNames:
    """The provider names: the fixed ones, enabled or not, and those that plugins have registered."""

    def __init__(self) -> None:
        self._names = set(AUTH_PROVIDERS)

    def add(self, names: Iterable[str]) -> None:
        self._names.update(names)

    def require(self, name: str) -> None:
        """Raise InvalidInput for an unknown name."""
        if name not in self._names:
            known = ", ".join(sorted(self._names))
            raise InvalidInput(f"auth_provider: there is no provider {name[:64]!r}; there are {known}")
