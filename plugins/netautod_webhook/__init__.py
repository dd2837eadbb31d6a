"""Posts signed events to URLs; configured by the section `webhook` of the settings, off without `urls`."""

from collections.abc import Callable

from netautod.plugin_api import PluginHost, PluginService, hookimpl
from netautod_webhook.service import Webhook
from netautod_webhook.settings import WebhookSettings

__all__ = ["Webhook", "WebhookSettings", "netautod_register_services"]


@hookimpl
def netautod_register_services(register: Callable[[PluginService], None], host: PluginHost) -> None:
    section = host.section("webhook")
    if section["urls"]:
        register(Webhook(WebhookSettings.from_section(section), host))
