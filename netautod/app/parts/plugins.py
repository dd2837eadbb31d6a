"""The part of the composition root about what plugins are lent, their services and their observers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from netautod.app.foundation import Foundation
from netautod.app.plugins.manager import PluginManager
from netautod.app.plugins.observers import Observers
from netautod.app.plugins.services import running_services
from netautod.app.settings import Settings
from netautod.core.metrics import Metrics
from netautod.plugin_api.host import PluginHost


def plugin_sections(settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """What plugins are shown of the settings: the sections that are theirs."""
    return {
        "ldap": asdict(settings.ldap),
        "oidc": asdict(settings.oidc),
        "webhook": asdict(settings.webhook),
    }


def host_of(base: Foundation) -> PluginHost:
    sections = plugin_sections(base.settings)
    return PluginHost(
        section=lambda name: sections[name],
        http=base.http,
        instance_name=base.settings.server.instance_name,
    )


@asynccontextmanager
async def observers_of(
    base: Foundation, plugins: PluginManager, metrics: Metrics
) -> AsyncIterator[Observers]:
    """The services of plugins and all observers; at the end these take what waits before those stop."""
    async with running_services(plugins, host_of(base)), Observers(plugins, metrics) as observers:
        yield observers
