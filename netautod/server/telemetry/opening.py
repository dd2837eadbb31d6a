"""Opens the tracer that the settings ask for; without one, OpenTelemetry is not even imported."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from netautod.core.logs.tracing import Tracer
from netautod.core.settings.telemetry import TelemetrySettings

logger = logging.getLogger(__name__)
# At a stop, for the spans that wait to be sent: a collector that hangs must not hold the service up.
LAST_SECONDS = 3.0


@asynccontextmanager
async def tracing(settings: TelemetrySettings) -> AsyncIterator[Tracer | None]:
    """Open the tracer; None without an endpoint. Raises SettingsError where OpenTelemetry is not
    installed.
    """
    if not settings.otlp_endpoint:
        yield None
        return
    settings.require_installed()
    from netautod.server.telemetry.sdk import SdkTracer

    tracer = SdkTracer(settings.traces_url)
    try:
        yield tracer
    finally:
        if not await _within(LAST_SECONDS, tracer.close):
            logger.warning("the last traces could not be sent within %g s and are dropped", LAST_SECONDS)


async def _within(seconds: float, work: Callable[[], None]) -> bool:
    """Return whether the work ended in time; else its thread, a daemon, ends with the process."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        work()
        try:
            loop.call_soon_threadsafe(done.set)
        except RuntimeError:  # the loop is closed: no task waits any more
            return

    threading.Thread(target=run, name="end of the traces", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            await done.wait()
    except TimeoutError:
        return False
    return True
