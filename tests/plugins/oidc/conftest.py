"""A provider that answers as the test says, and ours that asks it."""

from collections.abc import AsyncIterator

import pytest

from netautod_oidc import OidcProvider
from tests.plugins.oidc.support import provider_for
from tests.support.servers.identity_provider import ScriptedProvider


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
