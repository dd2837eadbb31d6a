"""The messages to systemd (sd_notify(3)), and the signs of life that it wants (sd_watchdog_enabled(3))."""

import asyncio
import logging
import os
import socket
import time

logger = logging.getLogger(__name__)
ASK_SECONDS, LONGER_SECONDS = 20.0, 60
READY, STOPPING, ALIVE = "READY=1", "STOPPING=1", "WATCHDOG=1"
MOST_SECONDS = 2.0


def notify(message: str) -> None:
    """Send a message; without NOTIFY_SOCKET nothing happens.

    A manager that does not read does not hold this up for long: a sign of life is worth nothing later.
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    name = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        channel.settimeout(0 if message == ALIVE else MOST_SECONDS)
        try:
            channel.sendto(message.encode(), name)
        except OSError as error:
            logger.warning("systemd could not be notified of %s: %s", message, error)


def reloading() -> str:
    """Return the message; READY=1 must follow. The time is that of CLOCK_MONOTONIC, which systemd from 253 on
    wants.
    """
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def longer() -> str:
    """Return the message that a start under way may take this long from now on, whatever TimeoutStartSec
    says.
    """
    return f"EXTEND_TIMEOUT_USEC={LONGER_SECONDS * 1_000_000}"


class StartExtension:
    """A request for time as long as the start is busy; for a process that has no other one to do it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def __call__(self, busy: bool) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = asyncio.create_task(_ask_forever(), name="asking systemd for time") if busy else None


async def _ask_forever() -> None:
    while True:
        notify(longer())
        await asyncio.sleep(ASK_SECONDS)


def watchdog_seconds() -> float | None:
    """Return the seconds between two WATCHDOG=1, half of what systemd waits for; None where it waits for none
    from us.
    """
    usec, pid = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID")
    if not usec.isdecimal() or int(usec) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 2e6
