"""The check of an id_token (OpenID Connect Core 3.1.3.7, RFC 8725). Pure: keys and time are arguments."""

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from authlib.oidc.core.claims import CodeIDToken
from joserfc import jws
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError, SecurityWarning

from netautod.plugin_api import LoginRefused
from netautod_oidc.keys import KeySet, SigningKey

MAX_BYTES = 64 * 1024
CLOCK_SKEW = 60.0
# Headers that bring a key, or change what is signed: none of them is ever read.
FORBIDDEN_HEADERS = frozenset({"jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc"})
TYPES = frozenset({"", "jwt", "id_token+jwt"})
TIMES = ("exp", "iat", "nbf")
# What each claim is refused with; other claims are not checked, since nothing depends on them.
REFUSALS = {
    "iss": "the id_token is of another issuer",
    "aud": "the id_token is for another client",
    "azp": "the id_token was issued to another client",
    **dict.fromkeys(TIMES, "the id_token has no valid times"),
    "nonce": "the nonce of the id_token is not that of this login",
    "sub": "the id_token has no valid subject",
    "at_hash": "the access token is not the one that the id_token goes with",
}


class UnknownKey(LoginRefused):
    """Raised if no known key has signed the token; the provider may have new ones."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The expected values of a token. `nonce` None: it belongs to no login of a browser (Core 12.2)."""

    issuer: str
    client_id: str
    nonce: str | None
    algorithms: frozenset[str]
    access_token: str | None = None


def verified_claims(token: Any, keys: KeySet, expected: Expected, now: float) -> dict[str, Any]:
    """Return the claims of a valid token. Raises UnknownKey for its signature, LoginRefused for all else."""
    header, signed = _parsed(token)
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in expected.algorithms:
        raise LoginRefused("the id_token is not signed with an accepted algorithm")
    _check_header(header)
    claims = _verified(signed, algorithm, keys.candidates(header.get("kid"), algorithm))
    _check_claims(claims, algorithm, expected, now)
    return claims


def _parsed(token: Any) -> tuple[Mapping[str, Any], jws.CompactSignature]:
    if not isinstance(token, str) or len(token) > MAX_BYTES or token.count(".") != 2:
        raise LoginRefused("the id_token is not a signed token")
    try:
        signed = jws.extract_compact(token.encode())
    except (JoseError, ValueError, RecursionError) as error:
        raise LoginRefused("the id_token cannot be read") from error
    return signed.headers(), signed


def _check_header(header: Mapping[str, Any]) -> None:
    if FORBIDDEN_HEADERS.intersection(header):
        raise LoginRefused("the id_token brings a key or an extension of its own")
    kind, kid = header.get("typ", ""), header.get("kid", "")
    if not isinstance(kind, str) or kind.lower() not in TYPES or not isinstance(kid, str):
        raise LoginRefused("the id_token is of another type")


def _verified(
    signed: jws.CompactSignature, algorithm: str, candidates: Sequence[SigningKey]
) -> dict[str, Any]:
    registry = jws.JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    for key in candidates:
        try:
            with warnings.catch_warnings():
                # Providers still call Ed25519 EdDSA; RFC 9864 renamed it.
                warnings.simplefilter("ignore", SecurityWarning)
                good = jws.validate_compact(signed, key, [algorithm], registry)
        except (JoseError, ValueError, TypeError):
            continue
        if good:
            return _claims(signed.payload)
    raise UnknownKey("no key of the provider has signed the id_token")


def _claims(payload: bytes | None) -> dict[str, Any]:
    try:
        claims = json.loads(payload or b"")
    except (ValueError, RecursionError) as error:
        raise LoginRefused("the claims of the id_token cannot be read") from error
    if not isinstance(claims, dict):
        raise LoginRefused("the claims of the id_token are not an object")
    return claims


def _check_claims(claims: Mapping[str, Any], algorithm: str, expected: Expected, now: float) -> None:
    access_token = expected.access_token
    checked = {name: claims[name] for name in REFUSALS if claims.get(name) is not None}
    token = CodeIDToken(
        checked,
        # authlib has no hash for the name that RFC 9864 gives EdDSA.
        {"alg": "EdDSA" if algorithm == "Ed25519" else algorithm},
        options={
            "iss": {"essential": True, "value": expected.issuer},
            "aud": {"essential": True, "value": expected.client_id},
            "azp": {"value": expected.client_id},
            "sub": {"essential": True, "validate": lambda _, value: _is_subject(value)},
            "at_hash": {"allow_blank": False},
            **{name: {"validate": lambda _, value: _is_time(value)} for name in TIMES},
        },
        params={"client_id": expected.client_id, "nonce": expected.nonce, "access_token": access_token},
    )
    try:
        token.validate(now, CLOCK_SKEW)
    except ExpiredTokenError as error:
        raise LoginRefused("the id_token has expired") from error
    except ClaimError as error:
        if error.claim in TIMES and _is_time(checked.get(error.claim)):
            raise LoginRefused("the id_token is of the future: check the clocks") from error
        raise LoginRefused(REFUSALS[error.claim]) from error
    except (ValueError, TypeError) as error:  # an at_hash that cannot be compared
        raise LoginRefused(REFUSALS["at_hash"]) from error


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e11


def _is_subject(value: str) -> bool:
    """Return whether it has at most 255 ASCII characters (OpenID Connect Core 2)."""
    return 1 <= len(value) <= 255 and value.isascii()
