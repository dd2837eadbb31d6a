"""A login through the provider `ldap` without a server around it, and settings for the slapd of the run."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from netautod.plugin_api import Identity
from netautod_ldap import LdapSettings
from netautod_ldap.provider import LdapProvider
from tests.support.programs import slapd
from tests.support.servers.certificates import Authority


async def authenticate(settings: LdapSettings, username: str, password: str) -> Identity | None:
    provider = LdapProvider(settings)
    try:
        return await provider.authenticate(username, password)
    finally:
        await provider.close()


SearchSettings = Callable[..., LdapSettings]


@pytest.fixture
def searching(directory: slapd.Slapd, authority: Authority) -> SearchSettings:
    """Return a function: `settings = searching(**changes)`, a search by the reader, StartTLS, groups looked
    up.
    """
    plain = LdapSettings(
        urls=(directory.url,),
        ca_file=str(authority.file),
        bind_dn=slapd.READER,
        bind_password=slapd.READER_PASSWORD,
        base_dn=f"ou=people,{slapd.BASE}",
        group_base_dn=f"ou=groups,{slapd.BASE}",
        timeout_seconds=2,
        threads=2,
    )

    def made(**changes: object) -> LdapSettings:
        return replace(plain, **changes)  # type: ignore[arg-type]

    return made
