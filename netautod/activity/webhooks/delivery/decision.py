"""The result of a try, what may be sent now, and how long a receiver is left alone; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from netautod.activity.webhooks.models import Delivery, SendResult, Status
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.transport.outbound.retries import retry_pause

GONE = 410  # "the receiver has no use for it any more" (RFC 9110, 15.5.11)
# Failures in a row after which the whole webhook waits, and only one delivery at a time probes the receiver.
TROUBLED = 5


@dataclass(frozen=True, kw_only=True)
class DeliveryUpdate:
    """The values that are stored of a delivery after a try; `next_at` is None if there is no further one."""

    status: Status
    next_at: datetime | None
    response_status: int | None
    error: str | None


def settled(
    tried: SendResult, attempts: int, *, now: datetime, settings: WebhooksSettings, chance: float
) -> DeliveryUpdate:
    """Decide what becomes of a delivery after a try; `attempts` includes this one.

    Every answer but 2xx and 410 is tried again until the delivery expires: a receiver that refuses today may
    be set up tomorrow.
    """
    if tried.error is None:
        return DeliveryUpdate(
            status="delivered", next_at=None, response_status=tried.response_status, error=None
        )
    if tried.response_status == GONE:
        return DeliveryUpdate(status="failed", next_at=None, response_status=GONE, error=tried.error)
    pause = max(tried.retry_after_seconds, _pause(attempts, settings, chance))
    return DeliveryUpdate(
        status="waiting",
        next_at=now + timedelta(seconds=pause),
        response_status=tried.response_status,
        error=tried.error,
    )


def resume_at(
    failures: int, retry_after_seconds: float, *, now: datetime, settings: WebhooksSettings, chance: float
) -> datetime | None:
    """Return until when nothing at all is sent to the receiver; None for at once.

    That is as long as it requests, and after some failures in a row a pause that grows.
    """
    pause = retry_after_seconds
    if failures >= TROUBLED:
        pause = max(pause, _pause(failures - TROUBLED + 1, settings, chance))
    return now + timedelta(seconds=pause) if pause else None


def chains(waiting: Sequence[Delivery], now: datetime) -> tuple[list[list[Delivery]], Mapping[str, datetime]]:
    """Return what may be sent now, each subject's deliveries in their order, and until when others wait.

    Nothing of a subject overtakes its first delivery.
    """
    by_subject: dict[str, list[Delivery]] = {}
    for delivery in waiting:
        by_subject.setdefault(delivery.subject, []).append(delivery)
    later = {
        subject: first.next_at
        for subject, (first, *_) in by_subject.items()
        if first.next_at is not None and first.next_at > now
    }
    return [found for subject, found in by_subject.items() if subject not in later], later


def _pause(tried: int, settings: WebhooksSettings, chance: float) -> float:
    return retry_pause(tried, settings.retry_seconds, longest=settings.longest_retry_seconds, chance=chance)
