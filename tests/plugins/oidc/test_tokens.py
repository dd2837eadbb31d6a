"""The check of id_tokens: signatures, keys, claims, and every way to forge them that we know."""

import base64
import hashlib
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from joserfc.jwk import OctKey

from netautod.plugin_api import LoginRefused, ProviderUnavailable
from netautod_oidc.provider import OidcProvider
from tests.plugins.oidc.conftest import ATTEMPT, CODE, provider_for
from tests.support.servers.identity_provider import CLIENT_ID, ScriptedProvider, new_key

Claims = dict[str, Any]


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [("EC", "ES256"), ("RSA", "RS256"), ("RSA", "PS256"), ("OKP", "EdDSA")],
)
async def test_signatures(scripted: ScriptedProvider, ours: OidcProvider, kind: str, algorithm: str) -> None:
    scripted.key = new_key(kind=kind)
    scripted.published, scripted.algorithm = [scripted.key], algorithm
    if algorithm == "EdDSA":
        with pytest.warns(match="EdDSA"):  # our test's own signing
            token = scripted.id_token()
        scripted.token_answer = 200, {"access_token": "a", "token_type": "Bearer", "id_token": token}
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


async def test_a_token_without_kid_is_tried_with_every_key(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    scripted.change_header = lambda header: header.pop("kid")
    scripted.published = [new_key("a"), new_key("b", "RSA"), scripted.key]
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


async def test_keys_are_kept_and_read_anew_for_an_unknown_kid(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    await ours.callback(ATTEMPT, CODE)
    await ours.callback(ATTEMPT, CODE)
    assert len(scripted.requests_to("/jwks")) == 1
    scripted.key = new_key("key-2")
    scripted.published = [scripted.key]
    await ours.callback(ATTEMPT, CODE)
    assert len(scripted.requests_to("/jwks")) == 2
    assert len(scripted.requests_to("/.well-known/openid-configuration")) == 1


async def test_a_key_that_was_replaced_under_its_old_kid(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    await ours.callback(ATTEMPT, CODE)
    scripted.key = new_key("key-1")
    scripted.published = [scripted.key]
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


def setting(**values: Any) -> Callable[[Claims], None]:
    return lambda claims: claims.update(values)


def without(*names: str) -> Callable[[Claims], None]:
    def change(claims: Claims) -> None:
        for name in names:
            del claims[name]

    return change


def at(name: str, seconds: int) -> Callable[[Claims], None]:
    """Return a change to a moment that far from now: from the run of the test, long after its collection."""
    return lambda claims: claims.update({name: int(time.time()) + seconds})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(setting(iss="https://evil.example"), id="another issuer"),
        pytest.param(setting(iss=None), id="an issuer that is null"),
        pytest.param(without("iss"), id="no issuer"),
        pytest.param(setting(aud="another-client"), id="another audience"),
        pytest.param(setting(aud=["another-client"]), id="a list with another audience"),
        pytest.param(setting(aud=[CLIENT_ID, "another-client"]), id="two audiences and no azp"),
        pytest.param(setting(aud=[CLIENT_ID, "b"], azp="b"), id="issued to the other audience"),
        pytest.param(setting(azp="another-client"), id="issued to another client"),
        pytest.param(setting(azp=""), id="issued to an empty client"),
        pytest.param(setting(aud={CLIENT_ID: True}), id="an audience that is an object"),
        pytest.param(without("aud"), id="no audience"),
        pytest.param(setting(nonce="nonce-2"), id="another nonce"),
        pytest.param(setting(nonce=["nonce-1"]), id="a nonce in a list"),
        pytest.param(setting(nonce=""), id="an empty nonce"),
        pytest.param(without("nonce"), id="no nonce"),
        pytest.param(at("exp", -100), id="expired"),
        pytest.param(setting(exp="4102444800"), id="an expiry in text"),
        pytest.param(setting(exp=True), id="an expiry that is true"),
        pytest.param(setting(exp=1e308), id="an expiry at the end of time"),
        pytest.param(without("exp"), id="no expiry"),
        pytest.param(at("iat", 600), id="issued in the future"),
        pytest.param(without("iat"), id="no time of issue"),
        pytest.param(at("nbf", 600), id="not valid yet"),
        pytest.param(setting(sub=""), id="an empty subject"),
        pytest.param(setting(sub="x" * 256), id="an endless subject"),
        pytest.param(setting(sub=1), id="a subject that is a number"),
        pytest.param(setting(sub={"$ne": None}), id="a subject that is an operator"),
        pytest.param(without("sub"), id="no subject"),
        pytest.param(setting(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), id="another access token"),
        pytest.param(setting(at_hash=""), id="an empty hash of the access token"),
        pytest.param(setting(at_hash={"a": 1}), id="a hash of the access token that is an object"),
        pytest.param(setting(at_hash="\ud800"), id="a hash of the access token that is no text"),
        pytest.param(setting(iat=-1), id="issued before there were clocks"),
        pytest.param(without("preferred_username"), id="no username anywhere"),
        pytest.param(setting(preferred_username=["ada"]), id="a username in a list"),
    ],
)
async def test_claims_that_are_refused(
    scripted: ScriptedProvider, ours: OidcProvider, change: Callable[[Claims], None]
) -> None:
    scripted.change_claims = change
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, CODE)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(setting(azp=CLIENT_ID), id="issued to us"),
        pytest.param(setting(aud=[CLIENT_ID, "another-client"], azp=CLIENT_ID), id="two audiences and azp"),
        pytest.param(setting(azp=None, nbf=None, at_hash=None), id="claims that are null"),
        pytest.param(setting(amr="pwd", auth_time="1", jti=1), id="claims of another type that are not used"),
        pytest.param(at("exp", -50), id="expired within the skew of clocks"),
        pytest.param(at("nbf", 50), id="valid within the skew of clocks"),
    ],
)
async def test_claims_that_are_accepted(
    scripted: ScriptedProvider, ours: OidcProvider, change: Callable[[Claims], None]
) -> None:
    scripted.change_claims = change
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (setting(iss="https://evil.example"), "is of another issuer"),
        (setting(aud="another-client"), "is for another client"),
        (setting(azp="another-client"), "was issued to another client"),
        (at("exp", -100), "has expired"),
        (without("exp"), "has no valid times"),
        (setting(exp=1e308), "has no valid times"),
        (at("iat", 600), "is of the future: check the clocks"),
        (setting(nonce="nonce-2"), "not that of this login"),
        (setting(sub="x" * 256), "has no valid subject"),
        (setting(at_hash={"a": 1}), "not the one that the id_token goes with"),
    ],
)
async def test_a_refusal_names_the_claim(
    scripted: ScriptedProvider, ours: OidcProvider, change: Callable[[Claims], None], sentence: str
) -> None:
    scripted.change_claims = change
    with pytest.raises(LoginRefused, match=f"{sentence}$"):
        await ours.callback(ATTEMPT, CODE)


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "Ed25519"])
async def test_the_hash_of_the_access_token(scripted: ScriptedProvider, algorithm: str) -> None:
    scripted.key = new_key(kind="EC" if algorithm == "ES256" else "OKP")
    scripted.published, scripted.algorithm = [scripted.key], algorithm
    made = (hashlib.sha256 if algorithm == "ES256" else hashlib.sha512)(b"provider-access-token").digest()
    at_hash = base64.urlsafe_b64encode(made[: len(made) // 2]).decode().rstrip("=")
    scripted.change_claims = setting(at_hash=at_hash)
    with pytest.warns(match="EdDSA") if algorithm == "EdDSA" else nullcontext():  # our test's own signing
        token = scripted.id_token()
    scripted.token_answer = 200, {"access_token": "provider-access-token", "id_token": token}
    ours = provider_for(scripted, algorithms=(algorithm,))
    assert (await ours.callback(ATTEMPT, CODE)).username == "ada"


def segment(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def with_header(**values: Any) -> Callable[[str], str]:
    """Return a change to the same token with another header; its signature does not fit any more."""

    def change(token: str) -> str:
        _, claims, signature = token.split(".")
        return f"{segment(values)}.{claims}.{signature}"

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(with_header(alg="none"), id="alg none with a signature"),
        pytest.param(lambda t: with_header(alg="none")(t).rsplit(".", 1)[0] + ".", id="alg none, unsigned"),
        pytest.param(with_header(alg="None", kid="key-1"), id="alg None"),
        pytest.param(with_header(alg="HS256", kid="key-1"), id="a symmetric algorithm"),
        pytest.param(with_header(alg="ES512", kid="key-1"), id="an algorithm that is not listed"),
        pytest.param(with_header(alg=["ES256"], kid="key-1"), id="a list of algorithms"),
        pytest.param(with_header(kid="key-1"), id="no algorithm"),
        pytest.param(with_header(alg="ES256", kid="key-9"), id="an unknown kid"),
        pytest.param(with_header(alg="ES256", kid={"$ne": 1}), id="a kid that is an operator"),
        pytest.param(with_header(alg="RS256", kid="key-1"), id="an algorithm of another key type"),
        pytest.param(lambda t: t[:-6] + "AAAAAA", id="a changed signature"),
        pytest.param(lambda t: t.rsplit(".", 1)[0] + ".", id="an empty signature"),
        pytest.param(lambda t: t + ".x", id="four parts"),
        pytest.param(lambda t: "..".join(t.split(".")), id="five parts, as if encrypted"),
        pytest.param(lambda t: t.split(".")[1], id="the claims alone"),
        pytest.param(lambda t: "", id="nothing"),
        pytest.param(lambda t: "\u00e4.b.c", id="letters outside ASCII"),
        pytest.param(lambda t: "x" * 100_000, id="endless text"),
        pytest.param(
            lambda t: f"{t.split('.')[0]}.{segment(['no', 'object'])}.{t.split('.')[2]}", id="a list"
        ),
    ],
)
async def test_tokens_that_are_refused(
    scripted: ScriptedProvider, ours: OidcProvider, change: Callable[[str], str]
) -> None:
    scripted.change_token = change
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, CODE)


@pytest.mark.parametrize("name", ["jwk", "jku", "x5u", "x5c", "crit"])
async def test_a_key_from_the_header_is_never_used(
    scripted: ScriptedProvider, ours: OidcProvider, name: str
) -> None:
    evil = new_key("evil")
    values = {
        "jwk": evil.as_dict(private=False),
        "jku": f"{scripted.issuer}/evil",
        "x5u": f"{scripted.issuer}/evil",
        "x5c": ["AAAA"],
        "crit": ["b64"],
    }
    scripted.key = evil
    scripted.change_header = lambda header: header.update({name: values[name], "b64": True})
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, CODE)
    assert scripted.requests_to("/evil") == []


async def test_the_public_key_as_the_secret_of_a_symmetric_signature(
    scripted: ScriptedProvider, ours: OidcProvider
) -> None:
    public = scripted.key.as_dict(private=False)
    scripted.key = OctKey.import_key(json.dumps(public).encode(), {"kid": "key-1"})
    scripted.algorithm = "HS256"
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, CODE)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"keys": []}, id="none"),
        pytest.param({"keys": [{"kty": "oct", "k": "AAAA", "kid": "key-1"}]}, id="a symmetric one"),
        pytest.param({"keys": ["x", None, {"kty": "EC"}]}, id="no keys at all"),
        pytest.param({"keys": {"kty": "EC"}}, id="an object instead of a list"),
        pytest.param([], id="a list instead of an object"),
    ],
)
async def test_key_sets_that_hold_nothing(scripted: ScriptedProvider, ours: OidcProvider, keys: Any) -> None:
    scripted.key_set = keys
    with pytest.raises((LoginRefused, ProviderUnavailable)):
        await ours.callback(ATTEMPT, CODE)


async def test_a_key_for_encryption_does_not_sign(scripted: ScriptedProvider, ours: OidcProvider) -> None:
    scripted.key_set = {"keys": [{**scripted.key.as_dict(private=False), "use": "enc"}]}
    with pytest.raises(LoginRefused):
        await ours.callback(ATTEMPT, CODE)
