"""The section `webhook` of the settings, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class WebhookSettings:
    """The settings of these names; a URL may hold a secret of the receiver, so it is in no log either."""

    urls: tuple[str, ...] = field(repr=False)
    secret: str = field(repr=False)
    events: tuple[str, ...]
    ca_file: str = ""
    timeout_seconds: float = 10.0
    tries: int = 8
    retry_seconds: float = 1.0
    queue: int = 1000
    drain_seconds: float = 5.0

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Self:
        return cls(**{known.name: section[known.name] for known in fields(cls)})
