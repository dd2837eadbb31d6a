"""One event as it is posted to a receiver: its body and, for each try, its headers.

The form of every webhook of netautod, those of organizations and the one of the section `[webhook]`: a
receiver that understands one understands the other.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class SignedMessage:
    """A message whose `body` and `id` are the same in every attempt, so that a receiver can recognise a
    repeated one.
    """

    id: str
    event: str
    body: bytes = field(repr=False)

    @classmethod
    def of(cls, event: str, data: Mapping[str, Any], *, id: str, at: datetime, instance: str) -> Self:
        """Build the message. `at` is when the event happened; moments within `data` are written as the API
        writes them.
        """
        content = {"id": id, "event": event, "at": _text(at), "instance": instance, "data": data}
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=_text).encode()
        return cls(id=id, event=event, body=body)

    def headers(self, secret: str | None, *, now: float) -> dict[str, str]:
        """Return the headers of one attempt at `now` (seconds since 1970): a late one has a signature of its
        own time.

        The form of the value is that of X-Hub-Signature-256 (docs.github.com, Validating webhook deliveries);
        what is signed, time stamp and body, is as in Stripe-Signature (docs.stripe.com, Verify webhook
        signatures manually), so that an old delivery cannot be replayed. Without a secret there is no
        signature.
        """
        timestamp = str(int(now))
        headers = {
            "Content-Type": "application/json",
            "X-Netautod-Event": self.event,
            "X-Netautod-Delivery": self.id,
            "X-Netautod-Timestamp": timestamp,
        }
        if secret:
            headers["X-Netautod-Signature"] = f"sha256={signature(secret, timestamp, self.body)}"
        return headers


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 (RFC 2104) of `<timestamp>.<body>`, as hexadecimal digits."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _text(moment: Any) -> str:
    """Return the moment as ISO 8601 in UTC with milliseconds, as the API writes it."""
    if not isinstance(moment, datetime):
        raise TypeError(f"{type(moment).__name__} is not JSON")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
