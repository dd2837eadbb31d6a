"""The schedule of polls: spread over their interval, later and later while a device does not answer.

A device has moments of its own, `interval` apart; which ones depends on its id alone. So devices that are
added at once are not due at once, and a restart changes nothing. Pure: time is an argument.
"""

import hashlib
from datetime import UTC, datetime, timedelta

from netautod.network.devices.polls.models import DEFAULT_INTERVAL_MINUTES

DEFAULT_INTERVAL = timedelta(minutes=DEFAULT_INTERVAL_MINUTES)
LONGEST_WAIT = timedelta(hours=6)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MOST_DOUBLINGS = 16  # of a minute: more than the longest wait, and no number that grows for ever


def interval_of(minutes: int | None) -> timedelta:
    return DEFAULT_INTERVAL if minutes is None else timedelta(minutes=minutes)


def next_due(device_id: str, interval: timedelta, *, after: datetime, failures: int = 0) -> datetime:
    """Return the last of the device's moments within its wait, which begins `after`.

    `failures`: how many polls in a row the device has not answered. Each one doubles the wait, up to six
    hours, or to the interval if that is longer.
    """
    wait = wait_of(interval, failures)
    return _moment_after(device_id, interval, after + wait - interval)


def wait_of(interval: timedelta, failures: int) -> timedelta:
    """Return the longest time until the next poll."""
    doubled = interval * (1 << min(failures, _MOST_DOUBLINGS))
    return max(interval, min(doubled, LONGEST_WAIT))


def _moment_after(device_id: str, interval: timedelta, moment: datetime) -> datetime:
    """Return the first of the device's moments that is later than `moment`."""
    length = interval // _MILLISECOND
    offset = _spread(device_id) % length
    since = (moment - _EPOCH) // _MILLISECOND - offset
    return _EPOCH + (since // length * length + length + offset) * _MILLISECOND


def _spread(device_id: str) -> int:
    """Return the same number on every node and in every process: `hash` of a text differs in each."""
    return int.from_bytes(hashlib.sha256(device_id.encode()).digest()[:8], "big")
