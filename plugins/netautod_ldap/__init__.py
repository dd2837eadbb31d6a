"""Logins through an LDAP directory; configured by the section `[ldap]` of the settings."""

from collections.abc import Callable

from netautod.plugin_api import AuthProvider, PluginHost, hookimpl
from netautod_ldap.settings import LdapSettings

__all__ = [
    "LdapSettings",
    "netautod_register_auth_providers",
    "netautod_register_settings",
]


@hookimpl
def netautod_register_settings(register: Callable[[type[LdapSettings]], None]) -> None:
    register(LdapSettings)


@hookimpl
def netautod_register_auth_providers(
    register: Callable[[AuthProvider], None], host: PluginHost[LdapSettings]
) -> None:
    if host.settings.enabled:
        # Who has no directory needs none of ldap3's 5 MB.
        from netautod_ldap.provider import LdapProvider

        register(LdapProvider(host.settings))
