"""The decisions what may be sent when, and how long a receiver is left alone: without a database."""

from datetime import UTC, datetime, timedelta

from netautod.activity.webhooks.delivery.decision import TROUBLED, chains, resume_at
from netautod.activity.webhooks.models import Delivery
from netautod.activity.webhooks.settings import WebhooksSettings
from netautod.core.identity.caller import OrgId

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
SETTINGS = WebhooksSettings(retry_seconds=1.0, longest_retry_seconds=3600.0)


def delivery(subject: str, number: int, *, in_seconds: float | None = None) -> Delivery:
    return Delivery(
        id=f"{subject}{number}",
        org_id=OrgId("o"),
        webhook_id="w",
        event="config_changed",
        subject=subject,
        at=NOW,
        attempts=0,
        status="waiting",
        next_at=None if in_seconds is None else NOW + timedelta(seconds=in_seconds),
        response_status=None,
        error=None,
        body=b"",
    )


def test_what_may_be_sent_is_in_order_and_behind_nothing_that_waits() -> None:
    waiting = [
        delivery("a", 1, in_seconds=5),
        delivery("b", 1, in_seconds=-5),
        delivery("a", 2),
        delivery("b", 2),
        delivery("c", 1),
    ]
    ready, later = chains(waiting, NOW)
    assert [[one.id for one in chain] for chain in ready] == [["b1", "b2"], ["c1"]]
    assert later == {"a": NOW + timedelta(seconds=5)}


def test_a_receiver_in_trouble_is_left_alone_for_longer_each_time() -> None:
    def pause(failures: int, requested: float = 0.0) -> float | None:
        until = resume_at(failures, requested, now=NOW, settings=SETTINGS, chance=1.0)
        return None if until is None else (until - NOW).total_seconds()

    assert [pause(failures) for failures in (0, TROUBLED - 1)] == [None, None]
    assert [pause(TROUBLED + more) for more in (0, 1, 2, 50)] == [1, 2, 4, 3600]
    assert [pause(1, requested=30), pause(TROUBLED, requested=30)] == [30, 30]
