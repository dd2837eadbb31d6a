"""Logins through an OpenID Connect provider; configured by the section `oidc` of the settings."""

from collections.abc import Callable

from netautod.plugin_api import AuthHost, AuthProvider, hookimpl
from netautod_oidc.provider import OidcProvider
from netautod_oidc.settings import OidcSettings

__all__ = ["OidcProvider", "OidcSettings", "netautod_register_auth_providers"]


@hookimpl
def netautod_register_auth_providers(register: Callable[[AuthProvider], None], host: AuthHost) -> None:
    section = host.section("oidc")
    if section["enabled"]:
        register(OidcProvider(OidcSettings.from_section(section), http=host.http))
