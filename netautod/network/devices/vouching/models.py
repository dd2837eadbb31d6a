"""The result of vouching for many devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class VouchError:
    device_id: str
    error: str

    def to_json(self) -> dict[str, Any]:
        return {"device_id": self.device_id, "error": self.error}


@dataclass(frozen=True, kw_only=True)
class Vouched:
    """The result of vouching. `count`: how many of the devices are vouched for now, those that were before
    among them.
    """

    count: int
    errors: Sequence[VouchError]

    def counts(self) -> dict[str, Any]:
        return {"vouched": self.count, "failed": len(self.errors)}
