"""A managed site of an organization."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from netautod.core.json.values import to_text


@dataclass(frozen=True, kw_only=True)
class Site:
    id: str
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "created_at": to_text(self.created_at),
            "updated_at": to_text(self.updated_at),
        }
