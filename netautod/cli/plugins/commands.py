"""Commands of plugins: found and run when one is called, so that other commands do not wait for them."""

import argparse
import asyncio
import logging
from collections.abc import AsyncIterator, Container
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from netautod.assembly.acting.caller_services import caller_services, share_services
from netautod.assembly.base import open_command_base
from netautod.assembly.configuration import Configuration
from netautod.assembly.identity import build_ssh_ca
from netautod.assembly.network.device_services import open_devices
from netautod.assembly.plugins import load_plugins
from netautod.cli.installation import opened, organization_named
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.core.errors import NetautodError
from netautod.core.identity.caller import system_caller
from netautod.plugin_api import UserServices
from netautod.plugin_host.loading.failures import PluginError, one_line
from netautod.plugin_host.manager import PluginManager
from netautod.plugin_host.offers import offers

logger = logging.getLogger(__name__)


def parser_of(
    name: str, configuration: Configuration, *, taken: Container[str]
) -> argparse.ArgumentParser | None:
    """Return the parser of a plugin's command; None if no plugin has one of this name. `taken` are our own
    commands.
    """
    plugins = load_plugins(configuration)
    offered = offers.commands_of(plugins, taken).get(name)
    if offered is None:
        broken = [status.name for status in plugins.statuses if not status.ok]
        if broken:
            complain(f"not working, so without commands: {', '.join(broken)} (netautod plugins says why)")
        return None

    def run(parsed: argparse.Namespace, configuration: Configuration) -> int:
        context = CommandRun(arguments=parsed, configuration=configuration, plugins=plugins)
        return asyncio.run(_ran(offered, context))

    parser = argparse.ArgumentParser(prog="netautod")
    made = Commands(parser).add(name, run, offered.command.help)
    try:
        offered.command.add_arguments(made)
    except Exception as failure:
        raise PluginError(f"the plugin {offered.plugin} failed: {one_line(failure)}") from failure
    return parser


@dataclass(frozen=True, kw_only=True)
class CommandRun:
    """The `CommandContext` of one command."""

    arguments: argparse.Namespace
    configuration: Configuration
    plugins: PluginManager

    def say(self, text: str = "") -> None:
        say(text)

    def complain(self, text: str) -> None:
        complain(text)

    def acting(self, organization: str | None = None) -> AbstractAsyncContextManager[UserServices]:
        return _acting(self.configuration, self.plugins, organization)


@asynccontextmanager
async def _acting(
    configuration: Configuration, plugins: PluginManager, organization: str | None
) -> AsyncIterator[UserServices]:
    async with opened(configuration.settings, makes_one=True) as installation:
        found = await organization_named(installation.people.organizations, organization)
        async with (
            open_command_base(installation, plugins) as base,
            open_devices(base, build_ssh_ca(base)) as devices,
        ):
            yield caller_services(share_services(base, devices), system_caller(found.id))


async def _ran(offered: offers.OfferedCommand, context: CommandRun) -> int:
    """Run the command and return the exit code; PluginError for what is the plugin's fault."""
    plugin = offered.plugin
    try:
        code = await offered.command.run(context)
    except NetautodError:
        raise
    except (Exception, SystemExit) as failure:
        logger.debug("the command of plugin %s failed", plugin, exc_info=failure)
        raise PluginError(f"the plugin {plugin} failed: {one_line(failure)}") from failure
    if code is None:
        return 0
    if type(code) is not int or not 0 <= code <= 2:
        raise PluginError(f"the plugin {plugin} failed: its command answered {code!r}, which is no exit code")
    return code
