"""The provider `oidc` alone: its requests, and its handling of answers, endpoints and userinfo."""

import asyncio
import base64
import hashlib
import json
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from netautod.plugin_api import Identity, LoginRefused, ProviderUnavailable
from netautod_oidc.provider import OidcProvider
from tests.plugins.oidc.conftest import ATTEMPT, CODE, provider_for
from tests.support.servers.identity_provider import CLIENT_ID, CLIENT_SECRET, ScriptedProvider

Claims = dict[str, Any]


async def test_where_the_browser_is_sent(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    location = await ours.authorize(ATTEMPT)
    assert location.startswith(f"{scripted.issuer}/authorize?")
    sent = scripted.see(location)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(b"v" * 43).digest()).decode().rstrip("=")
    assert sent == {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": ATTEMPT.callback_url,
        "scope": "openid profile email",
        "state": "state-1",
        "nonce": "nonce-1",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }


async def test_an_endpoint_with_a_query_of_its_own(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.metadata = {"authorization_endpoint": f"{scripted.issuer}/authorize?tenant=1"}
    assert (await ours.authorize(ATTEMPT)).startswith(f"{scripted.issuer}/authorize?tenant=1&response_type=")


async def test_a_good_answer(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.claims = {"preferred_username": "ada", "email": "a@b.example", "name": "Ada", "groups": ["x", 1]}
    found = await ours.callback(ATTEMPT, CODE)
    assert found == Identity(
        username="ada",
        external_ids=("subject-1",),
        email="a@b.example",
        display_name="Ada",
        groups=("x",),
        groups_unknown="the claim groups is no list of texts",
    )
    headers, form = scripted.requests_to("/token")[0]
    assert form == {
        "grant_type": "authorization_code",
        "code": "code-1",
        "redirect_uri": ATTEMPT.callback_url,
        "code_verifier": "v" * 43,
    }
    pair = base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode()
    assert pair == "netautod-tests:a+client%27s+secret%3A+%25%2F%2B+"
    assert scripted.requests_to("/userinfo") == []


@pytest.mark.parametrize(
    ("methods", "secret", "sent"),
    [
        pytest.param(
            ["client_secret_post"], CLIENT_SECRET, {"client_secret": CLIENT_SECRET}, id="in the body"
        ),
        pytest.param(["none"], "", {}, id="a public client"),
    ],
)
async def test_other_client_authentication(
    scripted: ScriptedProvider, methods: list[str], secret: str, sent: dict[str, str]
) -> None:
    scripted.metadata = {"token_endpoint_auth_methods_supported": methods}
    await provider_for(scripted, client_secret=secret).callback(ATTEMPT, CODE)
    headers, form = scripted.requests_to("/token")[0]
    assert "Authorization" not in headers
    assert {**form, "client_id": CLIENT_ID, **sent} == form


@pytest.mark.parametrize(
    ("parameters", "supported"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"state": "state-1"}, False, id="no code"),
        pytest.param({"state": "state-1", "code": ""}, False, id="an empty code"),
        pytest.param({"state": "state-1", "code": "x" * 5000}, False, id="an endless code"),
        pytest.param({"state": "state-1", "error": "access_denied"}, False, id="a refusal"),
        pytest.param({**CODE, "error": "access_denied"}, False, id="a refusal with a code"),
        pytest.param({**CODE, "iss": "https://evil.example"}, False, id="another provider's answer"),
        pytest.param(CODE, True, id="no issuer, although the provider always sends it"),
    ],
)
async def test_answers_that_are_refused(
    scripted: ScriptedProvider, ours: OidcProvider, parameters: dict[str, str], supported: bool
) -> None:
    scripted.metadata = {"authorization_response_iss_parameter_supported": supported}
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, parameters)
    assert scripted.requests_to("/token") == []


@pytest.mark.parametrize("more", [{"expires_in": "soon"}, {"expires_at": ["x"]}, {"expires_in": 1e400}])
async def test_a_token_answer_with_a_bad_lifetime_is_good(
    scripted: ScriptedProvider, ours: OidcProvider, more: dict[str, Any]
) -> None:
    tokens = {"access_token": "provider-access-token", "id_token": scripted.id_token(), **more}
    scripted.token_answer = 200, json.dumps(tokens)
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


IMPORTS = """
import sys
import netautod_oidc
early = {name for name in sys.modules if name.split(".")[0] in ("authlib", "joserfc")}
import netautod_oidc.provider
late = {"authlib.jose", "requests", "httpx"} & set(sys.modules)
print(sorted(early), "authlib" in sys.modules, sorted(late))
"""


async def test_authlib_comes_with_the_first_provider_and_brings_no_client_of_its_own() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", IMPORTS, stdout=PIPE)
    output, _ = await process.communicate()
    assert output.decode().split("\n")[0] == "[] True []"


async def test_an_answer_with_the_issuer(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.metadata = {"authorization_response_iss_parameter_supported": True}
    assert (await ours.callback(ATTEMPT, {**CODE, "iss": scripted.issuer})).username == "ada"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param((400, {"error": "invalid_grant"}), LoginRefused, id="a code that is not good"),
        pytest.param((400, {"error": "<script>"}), LoginRefused, id="an error that is none"),
        pytest.param((401, "no"), LoginRefused, id="no JSON"),
        pytest.param((200, "[]"), LoginRefused, id="a list"),
        pytest.param((200, "{}"), LoginRefused, id="no id_token"),
        pytest.param((200, {"id_token": None}), LoginRefused, id="an id_token that is null"),
        pytest.param((200, "[" * 100_000), LoginRefused, id="nested without end"),
        pytest.param((302, "{}"), LoginRefused, id="a redirect without target"),
        pytest.param((503, "{}"), ProviderUnavailable, id="a server that is overloaded"),
        pytest.param((200, "x" * 2_000_000), ProviderUnavailable, id="an endless answer"),
    ],
)
async def test_token_answers_that_are_refused(
    scripted: ScriptedProvider, ours: OidcProvider, answer: tuple[int, Any], error: type[Exception]
) -> None:
    scripted.token_answer = answer
    with pytest.raises(error) as failure:
        await ours.callback(ATTEMPT, CODE)
    assert "<script>" not in str(failure.value)


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"issuer": "https://evil.example"}, id="another issuer"),
        pytest.param({"issuer": None}, id="no issuer"),
        pytest.param({"token_endpoint": "file:///etc/passwd"}, id="a file"),
        pytest.param({"token_endpoint": None}, id="no endpoint"),
        pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="a script"),
        pytest.param({"authorization_endpoint": "https://x/\r\nSet-Cookie: a"}, id="a line break"),
        pytest.param({"jwks_uri": 1}, id="a number"),
    ],
)
async def test_metadata_that_is_refused(
    scripted: ScriptedProvider, ours: OidcProvider, metadata: dict[str, Any]
) -> None:
    scripted.metadata = metadata
    with pytest.raises(ProviderUnavailable):
        await ours.authorize(ATTEMPT)


@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri"])
async def test_endpoints_inside_our_own_network_get_no_request(
    scripted: ScriptedProvider, ours: OidcProvider, name: str
) -> None:
    scripted.metadata = {name: "http://169.254.169.254/latest/meta-data"}
    with pytest.raises(ProviderUnavailable, match="metadata address"):
        await ours.callback(ATTEMPT, CODE)


async def test_an_unavailable_provider_gets_a_later_request() -> None:
    scripted = ScriptedProvider(nonce="nonce-1")
    ours = provider_for(scripted)
    scripted.server.stop()
    for _ in range(2):
        with pytest.raises(ProviderUnavailable, match="cannot be reached"):
            await ours.authorize(ATTEMPT)


@pytest.mark.parametrize(
    ("userinfo", "expected"),
    [
        pytest.param(
            {"sub": "subject-1", "preferred_username": "ada", "groups": "net"}, ("net",), id="what is missing"
        ),
        pytest.param({"sub": "subject-2", "preferred_username": "root"}, None, id="another user's claims"),
        pytest.param({"preferred_username": "ada"}, None, id="claims without a user"),
        pytest.param({"sub": "subject-1"}, None, id="still no username"),
    ],
)
async def test_userinfo(
    scripted: ScriptedProvider, ours: OidcProvider, userinfo: Claims, expected: tuple[str, ...] | None
) -> None:
    scripted.claims = {}
    scripted.userinfo = userinfo
    if expected is None:
        with pytest.raises(LoginRefused):
            await ours.callback(ATTEMPT, CODE)
    else:
        assert (await ours.callback(ATTEMPT, CODE)).groups == expected
    headers, _ = scripted.requests_to("/userinfo")[0]
    assert headers["Authorization"] == "Bearer provider-access-token"


async def test_the_id_token_wins_over_userinfo(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.userinfo = {"sub": "subject-1", "preferred_username": "root", "name": "Ada"}
    found = await ours.callback(ATTEMPT, CODE)
    assert (found.username, found.display_name) == ("ada", "Ada")


@pytest.mark.parametrize(
    ("claims", "username"),
    [
        pytest.param({"email": "ada@b.example", "email_verified": True}, "ada@b.example", id="verified"),
        pytest.param({"email": "ada@b.example", "email_verified": False}, None, id="not verified"),
        pytest.param({"email": "ada@b.example", "email_verified": "true"}, None, id="verified in text"),
        pytest.param({"email": "ada@b.example"}, None, id="nothing said"),
    ],
)
async def test_a_mail_address_as_username(
    scripted: ScriptedProvider, claims: Claims, username: str | None
) -> None:
    scripted.claims = claims
    ours = provider_for(scripted, username_claim="email")
    if username is None:
        with pytest.raises(LoginRefused):
            await ours.callback(ATTEMPT, CODE)
    else:
        assert (await ours.callback(ATTEMPT, CODE)).username == username


@pytest.mark.parametrize(
    ("path", "claims", "groups"),
    [
        pytest.param("realm.roles", {"realm": {"roles": ["a", "b"]}}, ("a", "b"), id="inside another claim"),
        pytest.param("https://x.example/roles", {"https://x.example/roles": ["a"]}, ("a",), id="a URL"),
        pytest.param("groups", {"groups": []}, (), id="no group"),
    ],
)
async def test_where_groups_are_found(
    scripted: ScriptedProvider, path: str, claims: Claims, groups: tuple[str, ...]
) -> None:
    scripted.claims = {"preferred_username": "ada", **claims}
    found = await provider_for(scripted, roles_claim=path).callback(ATTEMPT, CODE)
    assert (found.groups, found.groups_unknown, found.possible_groups) == (groups, None, ())


OVERAGE = {
    "_claim_names": {"groups": "src1"},
    "_claim_sources": {"src1": {"endpoint": "https://graph.example/getMemberObjects"}},
}


@pytest.mark.parametrize(
    ("path", "claims", "reason"),
    [
        pytest.param("groups", OVERAGE, "leaves the claim groups out because of its size", id="overage"),
        pytest.param("groups", {}, "sends no claim groups", id="no claim"),
        pytest.param("groups", {"groups": None}, "sends no claim groups", id="null"),
        pytest.param(
            "realm.roles", {"realm": "x"}, "sends no claim realm.roles", id="a path that ends early"
        ),
        pytest.param("groups", {"groups": ["g"] * 1001}, "more than 1000 groups", id="too many"),
        pytest.param("groups", {"groups": [{"name": "g"}]}, "is no list of texts", id="objects with names"),
        pytest.param("groups", {"groups": ["a", {"name": "g"}]}, "is no list of texts", id="also objects"),
        pytest.param("groups", {"groups": {"a": 1}}, "is no list of texts", id="an object"),
        pytest.param("groups", {"groups": 7}, "is no list of texts", id="a number"),
    ],
)
async def test_groups_that_are_not_told_are_unknown(
    scripted: ScriptedProvider, path: str, claims: Claims, reason: str
) -> None:
    scripted.claims = {"preferred_username": "ada", "email": "a@b.example", "name": "Ada", **claims}
    found = await provider_for(scripted, roles_claim=path).callback(ATTEMPT, CODE)
    assert reason in (found.groups_unknown or "")
    assert {path for path, _, _ in scripted.requests} <= {
        "/token",
        "/jwks",
        "/userinfo",
        "/.well-known/openid-configuration",
    }


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        pytest.param("net-admins", (), id="one name"),
        pytest.param("net admins", ("net", "admins"), id="with a blank"),
        pytest.param("net-admins, ops", ("net-admins", "ops"), id="with a comma"),
        pytest.param("net-admins,ops\tlab", ("net-admins", "ops", "lab"), id="with several"),
    ],
)
async def test_a_text_is_one_group_that_may_be_several(
    scripted: ScriptedProvider, ours: OidcProvider, text: str, possible: tuple[str, ...]
) -> None:
    scripted.claims = {"preferred_username": "ada", "groups": text}
    found = await ours.callback(ATTEMPT, CODE)
    assert (found.groups, found.possible_groups, found.groups_unknown) == ((text,), possible, None)


async def test_groups_that_a_token_leaves_out_are_read_from_userinfo(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    scripted.claims = {"preferred_username": "ada", "email": "a@b.example", "name": "Ada", **OVERAGE}
    scripted.userinfo = {"sub": "subject-1", "groups": ["ops"]}
    found = await ours.callback(ATTEMPT, CODE)
    assert (found.groups, found.groups_unknown) == (("ops",), None)


@pytest.mark.parametrize("claims", [pytest.param(OVERAGE, id="overage"), pytest.param({}, id="no claim")])
@pytest.mark.parametrize(
    ("answer", "groups", "reason"),
    [
        pytest.param(["ops"], ("ops",), None, id="a list"),
        pytest.param({"groups": ["ops", "lab"]}, ("ops", "lab"), None, id="the claim"),
        pytest.param({"value": [{"id": "g-1"}, {"id": "g-2"}]}, ("g-1", "g-2"), None, id="a page of Graph"),
        pytest.param({"value": [{"id": "g-1"}], "@odata.nextLink": ""}, ("g-1",), "one page", id="of two"),
        pytest.param({"value": [{"name": "ops"}]}, (), "no list of texts", id="objects without ids"),
        pytest.param({"groups": "x" * 9, "error": 1}, ("x" * 9,), None, id="one text"),
        pytest.param({}, (), "no list of texts", id="nothing"),
        pytest.param((403, {}), (), "status 403", id="refused"),
        pytest.param((500, {}), (), "status 500", id="in trouble"),
        pytest.param((200, b"<html>"), (), "JSON", id="no JSON"),
    ],
)
async def test_groups_are_read_from_the_endpoint_of_the_settings(
    scripted: ScriptedProvider, claims: Claims, answer: Any, groups: tuple[str, ...], reason: str | None
) -> None:
    scripted.claims = {"preferred_username": "ada", **claims}
    scripted.groups_answer = answer if isinstance(answer, tuple) else (200, answer)
    ours = provider_for(scripted, groups_endpoint=f"{scripted.issuer}/groups?top=999")
    found = await ours.callback(ATTEMPT, CODE)
    assert found.groups == groups
    assert (found.groups_unknown is None) is (reason is None)
    assert (reason or "") in (found.groups_unknown or "")
    headers, _ = scripted.requests_to("/groups")[0]
    assert headers["Authorization"] == "Bearer provider-access-token"


async def test_groups_that_are_told_are_not_read_from_the_endpoint(scripted: ScriptedProvider) -> None:
    scripted.claims = {"preferred_username": "ada", "groups": []}
    ours = provider_for(scripted, groups_endpoint=f"{scripted.issuer}/groups")
    assert (await ours.callback(ATTEMPT, CODE)).groups == ()
    assert scripted.requests_to("/groups") == []


async def test_a_userinfo_that_refuses_leaves_the_claims_of_the_token(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    scripted.claims = {"preferred_username": "ada", **OVERAGE}
    scripted.userinfo_status = 403
    found = await ours.callback(ATTEMPT, CODE)
    assert (found.username, found.groups_unknown is None) == ("ada", False)
