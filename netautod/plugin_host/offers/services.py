"""Starts and stops the services of plugins; one that fails is left out, as a plugin that cannot be loaded."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from netautod.core.work.plugin_calls import no_exit
from netautod.plugin_api.host import PluginService
from netautod.plugin_host.manager import PluginManager

logger = logging.getLogger(__name__)
STEP_SECONDS = 30.0  # that the start or the stop of one service may take


@asynccontextmanager
async def running_services(plugins: PluginManager, *, seconds: float = STEP_SECONDS) -> AsyncIterator[None]:
    """Run the services until the end of the block; they observe from its beginning; each step has `seconds`.

    Raises PluginError if one of a required plugin does not start.
    """
    async with AsyncExitStack() as stack:
        for plugin, service in plugins.services():
            await _start(stack, plugins, plugin, service, seconds)
        plugins.check_required()
        yield


async def _start(
    stack: AsyncExitStack, plugins: PluginManager, plugin: str, service: PluginService, seconds: float
) -> None:
    try:
        with no_exit():
            async with asyncio.timeout(seconds):
                await service.__aenter__()
        stack.push_async_callback(_stop, plugin, service, seconds)
        plugins.observe_with(plugin, service)
    except Exception as error:  # it may fail in any way; the others must start
        logger.exception("a service of plugin %s cannot be started", plugin)
        plugins.mark_broken(plugin, "netautod_register_services", error)


async def _stop(plugin: str, service: PluginService, seconds: float) -> None:
    try:
        with no_exit():
            async with asyncio.timeout(seconds):
                await service.__aexit__(None, None, None)
    except Exception:  # it may fail in any way; the others must stop
        logger.exception("a service of plugin %s did not stop", plugin)
