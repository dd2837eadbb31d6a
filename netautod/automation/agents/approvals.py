"""The approval of one tool call, and the targets that the call was bound to when it was approved."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from netautod.core.json.values import to_text
from netautod.plugin_api import ApprovalDecision

UNKNOWN = "outcome unknown"
CHANGED = (
    "what was approved is not what would be done now: the device, its address, its credential or the lines "
    "are others. Nothing was sent"
)


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A decision about the call `call_id`; `hash` is that of the request that was shown."""

    call_id: str
    hash: str
    decision: ApprovalDecision

    @property
    def approved(self) -> bool:
        return self.decision.decision == "approved"

    def to_json(self) -> dict[str, Any]:
        return {
            "decision": self.decision.decision,
            "by": self.decision.by,
            "comment": self.decision.comment,
            "at": to_text(self.decision.at),
            "hash": self.hash,
        }


def approval_of(request: Mapping[str, Any] | None, decision: ApprovalDecision | None) -> Approval | None:
    """Build the approval from an execution's request and decision; None without a decision."""
    if request is None or decision is None:
        return None
    return Approval(
        call_id=str(request.get("tool_call_id")), hash=str(request.get("hash")), decision=decision
    )


def approval_hash(tool: str, arguments: Mapping[str, Any], bound: Mapping[str, Any]) -> str:
    """Return the hash of a call.

    It is the same for the same call with the same targets, whatever the order of the names.
    """
    details = {"tool": tool, "arguments": arguments, "bound": bound}
    return sha256(
        json.dumps(details, sort_keys=True, separators=(",", ":"), default=str).encode()
    ).hexdigest()
