"""The check of an id_token (OpenID Connect Core 3.1.3.7, RFC 8725). Pure: keys and time are arguments."""

import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning

from netautod.plugin_api import LoginRefused
from netautod_oidc.keys import KeySet, SigningKey

MAX_BYTES = 64 * 1024
CLOCK_SKEW = 60.0
# Headers that bring a key, or change what is signed: none of them is ever looked at.
FORBIDDEN_HEADERS = frozenset({"jwk", "jku", "x5u", "x5c", "crit", "b64", "zip", "enc"})
TYPES = frozenset({"", "jwt", "id_token+jwt"})
HASHES = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}


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
    _check_parties(claims, expected)
    _check_times(claims, now)
    if expected.nonce is not None and not _same(claims.get("nonce"), expected.nonce):
        raise LoginRefused("the nonce of the id_token is not that of this login")
    _check_subject(claims)
    _check_access_token(claims, algorithm, expected.access_token)
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
        raise LoginRefused("the claims of the id_token are no object")
    return claims


def _check_parties(claims: Mapping[str, Any], expected: Expected) -> None:
    if claims.get("iss") != expected.issuer:
        raise LoginRefused("the id_token is of another issuer")
    audience = claims.get("aud")
    several = isinstance(audience, list) and len(audience) > 1
    audiences = audience if isinstance(audience, list) else [audience]
    if expected.client_id not in audiences:
        raise LoginRefused("the id_token is for another client")
    party = claims.get("azp")
    if (several and party is None) or (party is not None and party != expected.client_id):
        raise LoginRefused("the id_token was issued to another client")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires, issued, begins = (claims.get(name) for name in ("exp", "iat", "nbf"))
    if not _is_time(expires) or not _is_time(issued) or not (begins is None or _is_time(begins)):
        raise LoginRefused("the id_token has no valid times")
    assert expires is not None
    assert issued is not None
    if expires + CLOCK_SKEW <= now:
        raise LoginRefused("the id_token has expired")
    if max(issued, begins or 0) > now + CLOCK_SKEW:
        raise LoginRefused("the id_token is of the future: check the clocks")


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e11


def _check_subject(claims: Mapping[str, Any]) -> None:
    subject = claims.get("sub")
    # OpenID Connect Core 2: at most 255 ASCII characters.
    if not isinstance(subject, str) or not 1 <= len(subject) <= 255 or not subject.isascii():
        raise LoginRefused("the id_token has no valid subject")


def _check_access_token(claims: Mapping[str, Any], algorithm: str, access_token: str | None) -> None:
    claimed = claims.get("at_hash")
    if claimed is None or access_token is None:
        return
    made = HASHES.get(algorithm[-3:], hashlib.sha512)(access_token.encode()).digest()
    half = base64.urlsafe_b64encode(made[: len(made) // 2]).decode().rstrip("=")
    if not _same(claimed, half):
        raise LoginRefused("the access token is not the one that the id_token goes with")


def _same(value: Any, expected: str) -> bool:
    if not isinstance(value, str):
        return False
    return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), expected.encode())
