"""Logins through an OpenID Connect provider; configured by the section `[oidc]` of the settings."""

from collections.abc import Callable

from netautod.plugin_api import AuthProvider, PluginHost, hookimpl
from netautod_oidc.settings import OidcSettings

__all__ = [
    "OidcSettings",
    "netautod_register_auth_providers",
    "netautod_register_settings",
]


@hookimpl
def netautod_register_settings(register: Callable[[type[OidcSettings]], None]) -> None:
    register(OidcSettings)


@hookimpl
def netautod_register_auth_providers(
    register: Callable[[AuthProvider], None], host: PluginHost[OidcSettings]
) -> None:
    if host.settings.enabled:
        # Who has no provider needs none of the cryptography behind it.
        from netautod_oidc.provider import OidcProvider

        register(OidcProvider(host.settings, http=host.http))
