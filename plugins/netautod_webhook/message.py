"""One event as it is posted: its body and, for each try, its signed headers."""

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4


@dataclass(frozen=True, kw_only=True)
class Message:
    """`body` and `id` are the same in every try, so that a receiver can tell a repeated one."""

    id: str
    event: str
    body: bytes = field(repr=False)

    @classmethod
    def of(cls, event: str, data: Any, *, instance: str, event_id: str | None = None) -> "Message":
        """`data` is an event of the plugin API; one with an id of its own is the same message when it is told
        again.
        """
        message_id = event_id or str(uuid4())
        content = {
            "id": message_id,
            "event": event,
            "at": _text(datetime.now(UTC)),
            "instance": instance,
            "data": asdict(data),
        }
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=_text).encode()
        return cls(id=message_id, event=event, body=body)

    def headers(self, secret: str, *, now: float) -> dict[str, str]:
        """Of one try at `now` (seconds since 1970): a late one has a signature of its own time.

        The form of the value is that of X-Hub-Signature-256 (docs.github.com, Validating webhook
        deliveries); what is signed, time stamp and body, is as in Stripe-Signature (docs.stripe.com,
        Verify webhook signatures manually), so that nobody can play an old delivery again.
        """
        timestamp = str(int(now))
        return {
            "Content-Type": "application/json",
            "X-Netautod-Event": self.event,
            "X-Netautod-Delivery": self.id,
            "X-Netautod-Timestamp": timestamp,
            "X-Netautod-Signature": f"sha256={signature(secret, timestamp, self.body)}",
        }


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 (RFC 2104) over `<timestamp>.<body>`, as hexadecimal digits."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _text(moment: Any) -> str:
    """ISO 8601 in UTC with milliseconds, as the API writes it."""
    if not isinstance(moment, datetime):
        raise TypeError(f"{type(moment).__name__} is not JSON")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
