"""Posts signed events to URLs; configured by the section `[webhook]` of the settings, off without `urls`."""

from collections.abc import Callable

from netautod.plugin_api import PluginHost, PluginService, hookimpl
from netautod_webhook.service import Webhook
from netautod_webhook.settings import WebhookSettings

__all__ = ["Webhook", "WebhookSettings", "netautod_register_services", "netautod_register_settings"]


@hookimpl
def netautod_register_settings(register: Callable[[type[WebhookSettings]], None]) -> None:
    register(WebhookSettings)


@hookimpl
def netautod_register_services(
    register: Callable[[PluginService], None], host: PluginHost[WebhookSettings]
) -> None:
    if host.settings.urls:
        register(Webhook(host))
