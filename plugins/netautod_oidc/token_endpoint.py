"""The OAuth 2.0 side of a login: authorization URL, token request and token response, by authlib.

authlib sends nothing here: every request goes out by the guarded client (discovery.py).
"""

import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote_plus

from authlib.oauth2 import ClientAuth, OAuth2Client, OAuth2Error
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from netautod.plugin_api import LoginRefused, OutboundAnswer, RedirectAttempt, RequestFailed
from netautod_oidc.discovery import Discovery, Metadata
from netautod_oidc.settings import OidcSettings

BASIC = "client_secret_basic"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ERROR_FORM = re.compile(r"[a-z_]{1,64}")
# Only these are read. authlib fails if `expires_in` or `error_description` break their rules, as an error in
# another language does.
MEMBERS = ("access_token", "id_token", "refresh_token", "error")


def authorization_url(settings: OidcSettings, metadata: Metadata, attempt: RedirectAttempt) -> str:
    """Return the address at the provider where the login of a browser begins, with PKCE (RFC 7636)."""
    uri = prepare_grant_uri(
        metadata.authorization_endpoint,
        settings.client_id,
        "code",
        redirect_uri=attempt.callback_url,
        scope=list(settings.scopes),
        state=attempt.state,
        nonce=attempt.nonce,
        code_challenge=create_s256_code_challenge(attempt.code_verifier),
        code_challenge_method="S256",
        # Core 11: else a provider may leave the refresh token out.
        prompt="consent" if "offline_access" in settings.scopes else None,
    )
    return str(uri)


async def request_tokens(
    settings: OidcSettings, discovery: Discovery, grant_type: str, **grant: str
) -> Mapping[str, Any]:
    """Return the answer of the token endpoint.

    Raises OAuth2Error with the status for an error, LoginRefused for no JSON object, ProviderUnavailable.
    """
    metadata = await discovery.metadata()
    body = prepare_token_request(grant_type, **grant)
    auth = _client_auth(settings, metadata)
    url, headers, body = auth.prepare("POST", metadata.token_endpoint, dict(FORM), body)
    answer = await discovery.request(url, headers=headers, body=body.encode())
    members = json_object(answer)
    response = SimpleNamespace(
        status_code=answer.status, json=lambda: {name: members[name] for name in MEMBERS if name in members}
    )
    try:
        tokens = OAuth2Client(session=None).parse_response_token(response)
        if answer.status != 200:
            raise OAuth2Error
    except OAuth2Error as error:
        error.status_code = answer.status
        raise
    return dict(tokens)


def json_object(answer: OutboundAnswer) -> Mapping[str, Any]:
    """Return the JSON object of the answer. Raises LoginRefused if it holds none."""
    document = json_value(answer)
    if not isinstance(document, dict):
        raise LoginRefused("the provider did not answer with a JSON object")
    return document


def json_value(answer: OutboundAnswer) -> Any:
    """Return the JSON of the answer. Raises LoginRefused if it holds none."""
    try:
        return answer.json()
    except RequestFailed as error:
        raise LoginRefused("the provider did not answer in JSON") from error


def error_name(value: Any) -> str:
    """Return the error code for the log; a value of another form is not logged."""
    return value if isinstance(value, str) and ERROR_FORM.fullmatch(value) else "an error"


def _client_auth(settings: OidcSettings, metadata: Metadata) -> ClientAuth:
    client_id, secret = settings.client_id, settings.client_secret
    if not secret:
        return ClientAuth(client_id, secret, "none")
    if BASIC not in metadata.client_authentication:
        return ClientAuth(client_id, secret, "client_secret_post")
    # RFC 6749 2.3.1: both are form-encoded before they are joined, which authlib leaves to its callers.
    return ClientAuth(quote_plus(client_id), quote_plus(secret), BASIC)
