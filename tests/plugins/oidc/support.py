"""Our side of a login through a scripted identity provider, without a database."""

from dataclasses import replace
from typing import Any

from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.plugin_api import RedirectAttempt
from netautod_oidc import OidcProvider, OidcSettings
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
