"""A login through the provider `ldap`, without a server around it."""

from netautod.plugin_api import Identity
from netautod_ldap import LdapProvider, LdapSettings


async def asked(settings: LdapSettings, username: str, password: str) -> Identity | None:
    provider = LdapProvider(settings)
    try:
        return await provider.authenticate(username, password)
    finally:
        await provider.close()
