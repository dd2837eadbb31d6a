"""Logins that are looked up again by their refresh token, at a provider that answers as the test says."""

from typing import Any

import pytest

from netautod.plugin_api import KnownUser, LoginEnded, ProviderUnavailable
from netautod_oidc.provider import OidcProvider
from tests.plugins.oidc.conftest import ATTEMPT, CODE, provider_for
from tests.support.servers.identity_provider import ScriptedProvider, new_key

USER = KnownUser(username="ada", external_id="subject-1", refresh_token="token-1")


def answering(scripted: ScriptedProvider, **more: Any) -> None:
    """Set the next answers of the token endpoint: an id_token without nonce, and `more`."""
    body: dict[str, Any] = {"access_token": "provider-access-token", "token_type": "Bearer"}
    scripted.change_claims = lambda claims: claims.pop("nonce")
    body = {**body, "id_token": scripted.id_token(), **more}
    scripted.token_answer = 200, {name: value for name, value in body.items() if value is not None}


async def test_a_login_leaves_the_refresh_token(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    identity = await ours.callback(ATTEMPT, CODE)
    assert identity.refresh_token is None
    tokens = {"access_token": "a-1", "id_token": scripted.id_token(), "refresh_token": "left-1"}
    scripted.token_answer = 200, tokens
    identity = await ours.callback(ATTEMPT, CODE)
    assert identity.refresh_token == "left-1"
    assert "left-1" not in repr(identity)


async def test_a_look_up_uses_the_token_and_brings_claims_and_a_new_one(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    scripted.claims |= {"groups": ["net-admins"]}
    answering(scripted, refresh_token="token-2")
    found = await ours.look_up(USER)
    assert found.refresh_token == "token-2"
    assert found.identity is not None
    assert (found.identity.external_ids, found.identity.groups) == (("subject-1",), ("net-admins",))
    headers, form = scripted.requests_to("/token")[-1]
    assert form == {"grant_type": "refresh_token", "refresh_token": "token-1"}
    assert headers["Authorization"].startswith("Basic ")


async def test_userinfo_is_requested_without_rotation_and_id_token(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    scripted.userinfo = {"sub": "subject-1", "preferred_username": "ada", "groups": ["ops"]}
    answering(scripted, id_token=None)
    found = await ours.look_up(USER)
    assert found.refresh_token is None
    assert found.identity is not None
    assert found.identity.groups == ("ops",)


async def test_a_login_without_a_token_is_not_looked_up(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    found = await ours.look_up(KnownUser(username="ada", external_id="subject-1"))
    assert (found.identity, found.refresh_token) == (None, None)
    assert scripted.requests == []


@pytest.mark.parametrize("status", [400, 401])
@pytest.mark.parametrize("more", [{}, {"error_description": 'gesperrt \u2013 "abgelaufen"\n'}])
async def test_a_token_that_is_taken_back_ends_the_login(
    scripted: ScriptedProvider, ours: OidcProvider, status: int, more: dict[str, str]
) -> None:
    scripted.token_answer = status, {"error": "invalid_grant", **more}
    with pytest.raises(LoginEnded):
        await ours.look_up(USER)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((500, {"error": "invalid_grant"}), id="a provider in trouble"),
        pytest.param((503, "<html>"), id="a provider that is down"),
        pytest.param((400, {"error": "invalid_client"}), id="our secret is wrong"),
        pytest.param((400, {"error": "unsupported_grant_type"}), id="no such grant"),
        pytest.param((400, {"error": "interaction_required"}), id="the user has to do more"),
        pytest.param((429, {"error": "slow_down"}), id="too many requests"),
        pytest.param((400, "<html>invalid_grant</html>"), id="a proxy's page"),
        pytest.param((400, ["invalid_grant"]), id="no object"),
        pytest.param((302, {"error": "invalid_grant"}), id="a redirect"),
        pytest.param((200, {"error": "invalid_grant"}), id="an error with a good status"),
        pytest.param((400, {}), id="no error"),
        pytest.param((400, {"error": ["invalid_grant"]}), id="a list of errors"),
    ],
)
async def test_all_else_ends_nothing(scripted: ScriptedProvider, ours: OidcProvider, answer: Any) -> None:
    scripted.token_answer = answer
    with pytest.raises(ProviderUnavailable):
        await ours.look_up(USER)


async def test_a_provider_that_is_away_ends_nothing(scripted: ScriptedProvider) -> None:
    ours = provider_for(scripted)
    scripted.server.stop()
    await scripted.server.close_all_connections()
    with pytest.raises(ProviderUnavailable):
        await ours.look_up(USER)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({"sub": "subject-2"}, id="another subject"),
        pytest.param({"iss": "https://evil.example"}, id="another issuer"),
        pytest.param({"aud": "somebody-else"}, id="another client"),
        pytest.param({"exp": 1}, id="expired"),
    ],
)
async def test_claims_that_are_not_the_users_change_nothing_but_the_token_is_kept(
    scripted: ScriptedProvider, ours: OidcProvider, claims: dict[str, Any]
) -> None:
    scripted.claims |= {"groups": ["net-admins"], **claims}
    answering(scripted, refresh_token="token-2")
    found = await ours.look_up(USER)
    assert (found.identity, found.refresh_token) == (None, "token-2")


async def test_a_token_of_another_key_changes_nothing(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.key = new_key()
    answering(scripted, refresh_token="token-2")
    found = await ours.look_up(USER)
    assert (found.identity, found.refresh_token) == (None, "token-2")


@pytest.mark.parametrize("userinfo", [{"sub": "subject-2", "groups": ["admins"]}, {}])
async def test_userinfo_about_another_user_changes_nothing(
    scripted: ScriptedProvider, ours: OidcProvider, userinfo: dict[str, Any]
) -> None:
    scripted.userinfo = userinfo
    answering(scripted, id_token=None)
    assert (await ours.look_up(USER)).identity is None


async def test_a_provider_that_says_nothing_of_groups_takes_none_away(scripted: ScriptedProvider) -> None:
    answering(scripted, access_token=None)
    found = (await provider_for(scripted).look_up(USER)).identity
    assert found is not None
    assert (found.groups, found.groups_unknown) == ((), "the provider sends no claim groups")


@pytest.mark.parametrize(
    ("claims", "groups_endpoint", "expected"),
    [
        pytest.param({"preferred_username": "ada", "groups": []}, "", ((), None), id="no group in the token"),
        pytest.param({"groups": ["ops"]}, "", (("ops",), None), id="a token without the name"),
        pytest.param({"preferred_username": "ada"}, "/groups", (("lab",), None), id="the endpoint of groups"),
        pytest.param(None, "/groups", (("lab",), None), id="the endpoint of groups, without a token"),
        pytest.param({}, "", ((), "the provider sends no claim groups"), id="a token that says nothing"),
        pytest.param(None, "", None, id="nothing at all"),
    ],
)
async def test_roles_follow_a_provider_without_userinfo(
    scripted: ScriptedProvider, claims: dict[str, Any] | None, groups_endpoint: str, expected: Any
) -> None:
    scripted.has_userinfo = False
    scripted.groups_answer = 200, ["lab"]
    scripted.claims = claims or {}
    answering(scripted, **({"id_token": None} if claims is None else {}))
    endpoint = groups_endpoint and scripted.issuer + groups_endpoint
    found = (await provider_for(scripted, groups_endpoint=endpoint).look_up(USER)).identity
    assert (None if found is None else (found.groups, found.groups_unknown)) == expected
    assert found is None or (found.username, found.external_ids) == ("ada", ("subject-1",))


async def test_offline_access_is_requested_with_consent(scripted: ScriptedProvider) -> None:
    plain = await provider_for(scripted).authorize(ATTEMPT)
    assert "prompt=" not in plain
    offline = await provider_for(scripted, scopes=("openid", "offline_access")).authorize(ATTEMPT)
    assert "prompt=consent" in offline
