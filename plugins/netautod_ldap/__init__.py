"""Logins through an LDAP directory; configured by the section `ldap` of the settings."""

from collections.abc import Callable

from netautod.plugin_api import AuthHost, AuthProvider, hookimpl
from netautod_ldap.provider import LdapProvider
from netautod_ldap.settings import LdapSettings

__all__ = ["LdapProvider", "LdapSettings", "netautod_register_auth_providers"]


@hookimpl
def netautod_register_auth_providers(register: Callable[[AuthProvider], None], host: AuthHost) -> None:
    section = host.section("ldap")
    if section["enabled"]:
        register(LdapProvider(LdapSettings.from_section(section)))
