"""Access tokens: their content; everything that is not one of ours is refused in the same words."""

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from netautod.core.errors import Unauthenticated
from tests.identity.auth.support import INFO, Node

GONE = object()


def encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(segment: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))


def changed(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**values, **changes}.items() if value is not GONE}


async def resigned(node: Node, header: dict[str, Any], claims: dict[str, Any]) -> str:
    """Return a real token with changes, signed with the service's own key: only the checks can refuse it."""
    parts = (await node.log_in()).access_token.split(".")
    message = f"{encoded(changed(decoded(parts[0]), header))}.{encoded(changed(decoded(parts[1]), claims))}"
    key = await node.logins.keys.signing()
    return f"{message}.{encoded(key.private.sign(message.encode()))}"


async def refused(node: Node, token: str) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await node.authenticator.authenticate(token, INFO)
    assert caught.value.text == "Invalid or expired token"


async def test_a_token_has_the_specified_claims_and_stands_for_its_user(untouched: Node) -> None:
    token = (await untouched.log_in()).access_token
    header, claims = (decoded(part) for part in token.split(".")[:2])
    assert header == {"alg": "EdDSA", "typ": "at+jwt", "kid": (await untouched.logins.keys.signing()).kid}
    assert set(claims) == {*("iss", "aud", "sub", "org_id", "username", "roles", "sid", "iat", "exp", "jti")}
    assert (claims["username"], claims["roles"]) == ("admin", ["admin"])
    assert claims["exp"] - claims["iat"] == 3600
    caller = await untouched.authenticator.authenticate(token, INFO)
    assert (caller.user_id, caller.org_id, caller.session_id) == (
        claims["sub"],
        claims["org_id"],
        claims["sid"],
    )
    assert (caller.permissions, caller.ip_address) == (frozenset({"*", "notes.read"}), "192.0.2.1")


async def test_a_token_signed_anew_without_changes_is_good(untouched: Node) -> None:
    """Check the helper of the tests below."""
    await untouched.authenticator.authenticate(await resigned(untouched, {}, {}), INFO)


@pytest.mark.parametrize(
    ("header", "claims"),
    [
        pytest.param({"typ": "JWT"}, {}, id="another type"),
        pytest.param({"typ": GONE}, {}, id="no type"),
        pytest.param({"typ": ["at+jwt"]}, {}, id="type in a list"),
        pytest.param({"alg": "Ed25519"}, {}, id="another name of the algorithm"),
        pytest.param({"alg": "none"}, {}, id="alg none with a good signature"),
        pytest.param({"alg": GONE}, {}, id="no algorithm"),
        pytest.param({"kid": "11111111-1111-4111-8111-111111111111"}, {}, id="a key that we do not have"),
        pytest.param({"kid": GONE}, {}, id="no key id"),
        pytest.param({"kid": None}, {}, id="key id null"),
        pytest.param({"kid": {"$ne": ""}}, {}, id="operator object as key id"),
        pytest.param({"kid": "../../dev/null"}, {}, id="path as key id"),
        pytest.param({"crit": ["exp"], "exp": 1}, {}, id="critical header"),
        pytest.param({"b64": False, "crit": ["b64"]}, {}, id="unencoded payload"),
        pytest.param({"jwk": {"kty": "OKP"}}, {}, id="key in the header"),
        pytest.param({"jku": "https://evil.example/keys"}, {}, id="key address in the header"),
        pytest.param({}, {"iss": "evil"}, id="another issuer"),
        pytest.param({}, {"iss": GONE}, id="no issuer"),
        pytest.param({}, {"iss": ["netautod"]}, id="issuer in a list"),
        pytest.param({}, {"aud": "other-api"}, id="another audience"),
        pytest.param({}, {"aud": GONE}, id="no audience"),
        pytest.param({}, {"aud": ["netautod-api", "other-api"]}, id="two audiences"),
        pytest.param({}, {"exp": 1}, id="expired long ago"),
        pytest.param({}, {"exp": GONE}, id="no end"),
        pytest.param({}, {"exp": None}, id="end null"),
        pytest.param({}, {"exp": "9999999999"}, id="end as text"),
        pytest.param({}, {"exp": 9999999999.5}, id="end as a fraction"),
        pytest.param({}, {"exp": True}, id="end true"),
        pytest.param({}, {"exp": [9999999999]}, id="end in a list"),
        pytest.param({}, {"iat": GONE}, id="no time of issue"),
        pytest.param({}, {"iat": 99999999999}, id="issued in the future"),
        pytest.param({}, {"iat": "now"}, id="time of issue as text"),
        pytest.param({}, {"nbf": 99999999999}, id="not valid yet"),
        pytest.param({}, {"nbf": [1]}, id="start in a list"),
        pytest.param({}, {"sub": GONE}, id="no subject"),
        pytest.param({}, {"sub": {"$gt": ""}}, id="operator object as subject"),
        pytest.param({}, {"sub": "22222222-2222-4222-8222-222222222222"}, id="a user that does not exist"),
        pytest.param({}, {"sid": GONE}, id="no session"),
        pytest.param({}, {"sid": {"$gt": ""}}, id="operator object as session"),
        pytest.param({}, {"sid": "33333333-3333-4333-8333-333333333333"}, id="no such session"),
        pytest.param({}, {"org_id": GONE}, id="no organization"),
        pytest.param({}, {"org_id": "44444444-4444-4444-8444-444444444444"}, id="another organization"),
        pytest.param({}, {"jti": GONE}, id="no token id"),
        pytest.param({}, {"jti": "a" * 8192}, id="over 8 KB"),
    ],
)
async def test_a_changed_token_is_refused_even_with_our_signature(
    untouched: Node, header: dict[str, Any], claims: dict[str, Any]
) -> None:
    await refused(untouched, await resigned(untouched, header, claims))


async def test_tokens_signed_with_other_keys_are_refused(untouched: Node) -> None:
    real = (await untouched.log_in()).access_token
    head, body, signature = real.split(".")
    header, claims = decoded(head), decoded(body)
    public = (await untouched.logins.keys.signing()).public
    forged: list[str] = []
    for alg in ("none", "None", "NONE", ""):
        forged += [f"{encoded({**header, 'alg': alg})}.{body}.{tail}" for tail in ("", signature)]
    for form, kind in (
        (Encoding.Raw, PublicFormat.Raw),
        (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        (Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        (Encoding.OpenSSH, PublicFormat.OpenSSH),
    ):
        secret = public.public_bytes(form, kind)
        for alg in ("HS256", "EdDSA"):
            message = f"{encoded({**header, 'alg': alg})}.{body}"
            digest = hmac.new(secret, message.encode(), hashlib.sha256).digest()
            forged.append(f"{message}.{encoded(digest)}")
    own = Ed25519PrivateKey.generate()
    keys: list[tuple[Any, str]] = [
        (own, "EdDSA"),
        (rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256"),
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
    ]
    extra = {"kid": header["kid"], "typ": header["typ"]}
    forged += [jwt.encode(claims, key, algorithm=alg, headers=extra) for key, alg in keys]
    for token in forged:
        await refused(untouched, token)


async def test_what_is_no_token_at_all_is_refused(untouched: Node) -> None:
    real = (await untouched.log_in()).access_token
    head, body, signature = real.split(".")
    admin = encoded({**decoded(body), "roles": ["root"]})
    broken = [
        *("", ".", "..", "...", "a.b.c", "\u00e9.a.b", real + ".", "." + real, real[:-2], real + "A"),
        *(f"{head}.{body}", f"{head}.{body}.", f"{head}..{signature}", f"{head}.{admin}.{signature}"),
        *(f"{head}.{encoded(b'[]')}.{signature}", f"{encoded(b'[]')}.{body}.{signature}"),
        *(f"{encoded(b'[' * 3000)}.{body}.{signature}", f"{body}.{head}.{signature}"),
        *(real.swapcase(), real[::-1], "x" * 8193, real + "A" * 8192, "nat_" + "a" * 43),
    ]
    for token in broken:
        await refused(untouched, token)


async def test_a_token_ends_with_its_hour(node: Node) -> None:
    token = (await node.log_in()).access_token
    node.clock.move(3598)
    await node.authenticator.authenticate(token, INFO)
    node.clock.move(2)
    await refused(node, token)
