"""A provider that answers as the test says, and our provider in front of it, without a database."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from netautod.plugin_api import RedirectAttempt
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.support.servers.identity_provider import CLIENT_ID, CLIENT_SECRET, ScriptedProvider

ATTEMPT = RedirectAttempt(
    state="state-1",
    nonce="nonce-1",
    code_verifier="v" * 43,
    callback_url="https://netautod.example/api/auth/oidc/callback",
)
CODE = {"state": "state-1", "code": "code-1"}


def provider_for(scripted: ScriptedProvider, **changes: Any) -> OidcProvider:
    settings = OidcSettings(
        issuer=scripted.issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, timeout_seconds=2
    )
    client = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
    return OidcProvider(replace(settings, **changes), http=client)


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
