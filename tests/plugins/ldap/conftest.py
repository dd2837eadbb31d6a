"""Settings of the plugin for the slapd of the run."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from netautod_ldap import LdapSettings
from tests.support.programs import slapd
from tests.support.servers.certificates import Authority

SearchSettings = Callable[..., LdapSettings]


@pytest.fixture
def searching(directory: slapd.Slapd, authority: Authority) -> SearchSettings:
    """`settings = searching(**changes)`: a search by the reader, StartTLS, groups looked up."""
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
