"""An installation for logins through directories, a slapd with a certificate of ours, a webhook receiver."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from netautod_ldap import LdapSettings
from netautod_oidc import OidcProvider
from tests.auth.conftest import clock, installation, vault
from tests.auth.support import serve_node
from tests.plugins.oidc_support import provider_for
from tests.support.client import ApiClient
from tests.support.programs import slapd
from tests.support.servers.certificates import Authority
from tests.support.servers.identity_provider import ScriptedProvider
from tests.support.servers.webhook_receiver import WebhookReceiver, receiving
from tests.support.serving import Servers

__all__ = ["clock", "installation", "vault"]
Served = Callable[..., ApiClient]
SearchSettings = Callable[..., LdapSettings]


@pytest.fixture
def served(servers: Servers) -> Served:
    """`client = served(node, *services)`: the node, and the routes of these services beside its own."""
    return partial(serve_node, servers)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"), "trusted")


@pytest.fixture(scope="session")
async def directory(
    tmp_path_factory: pytest.TempPathFactory, authority: Authority
) -> AsyncIterator[slapd.Slapd]:
    """One slapd for the run; skips where OpenLDAP is not installed."""
    if slapd.PROGRAM is None or slapd.ADD is None:
        pytest.skip("slapd or ldapadd is not installed")
    certificate, key = authority.server("slapd")
    folder = tmp_path_factory.mktemp("slapd")
    async with slapd.running_slapd(folder, authority.file, certificate, key) as running:
        yield running


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


@pytest.fixture
def foreign(tmp_path: Path) -> Authority:
    """An authority that nobody trusts."""
    return Authority(tmp_path, "foreign")


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedProvider]:
    provider = ScriptedProvider(nonce="nonce-1")
    provider.userinfo = {"sub": "subject-1"}
    yield provider
    provider.server.stop()
    await provider.server.close_all_connections()


@pytest.fixture
def ours(scripted: ScriptedProvider) -> OidcProvider:
    return provider_for(scripted)


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as made:
        yield made
