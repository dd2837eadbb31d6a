"""Access tokens: JWTs of one algorithm and one type, signed and verified with our own ring of keys only.

Follows RFC 8725: the algorithm is fixed (3.1), the key comes from our ring and never from the token (3.10),
issuer, audience and explicit type are checked (3.8, 3.9, 3.11). Claims tell clients who they are; permissions
are never read from the token.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt

from netautod.core.clock import Clock
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.identity.refusals import TokenRefused
from netautod.identity.auth.models import LoginSession
from netautod.identity.auth.tokens.signing_keys import SigningKeys
from netautod.identity.users.models import User

ALGORITHM = "EdDSA"
TYPE = "at+jwt"  # RFC 9068 2.1
ISSUER = "netautod"
AUDIENCE = "netautod-api"
MAX_BYTES = 8192
REQUIRED = ("iss", "aud", "exp", "iat", "sub", "sid", "org_id", "jti")
HEADERS = frozenset({"alg", "typ", "kid"})
CLOCK_SKEW = timedelta(seconds=60)
INVALID = "Invalid or expired token"
REMEMBERED = 10_000


@dataclass(frozen=True, kw_only=True)
class AccessClaims:
    """The claims of a valid token that are used."""

    user_id: str
    org_id: OrgId
    session_id: str
    username: str

    def refusal(self) -> TokenRefused:
        """Build the refusal of this token, with its user: the signature proves whose it was."""
        return TokenRefused(
            INVALID,
            Caller(
                user_id=self.user_id,
                org_id=self.org_id,
                username=self.username,
                permissions=frozenset(),
                session_id=self.session_id,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class _Verified:
    """The result of one token's signature check; it is valid as long as the ring has the key."""

    kid: str
    expires_at: int
    claims: AccessClaims


class AccessTokens:
    """A service of access tokens. `lifetime_seconds` is the setting auth.access_token_seconds.

    A token's signature is checked once (0.2 ms) and then known by the token's hash; the key and the expiry
    are checked every time.
    """

    def __init__(self, keys: SigningKeys, *, clock: Clock, lifetime_seconds: int) -> None:
        self._keys = keys
        self._clock = clock
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()
        self.lifetime = timedelta(seconds=lifetime_seconds)

    async def issue(self, user: User, session: LoginSession) -> str:
        key = await self._keys.signing()
        now = self._clock.now()
        issued_at = int(now.timestamp())
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": user.id,
            "org_id": user.org_id,
            "username": user.username,
            "roles": user.role_names,
            "sid": session.id,
            "iat": issued_at,
            "exp": issued_at + int(self.lifetime.total_seconds()),
            "jti": str(uuid4()),
        }
        return jwt.encode(claims, key.private, algorithm=ALGORITHM, headers={"typ": TYPE, "kid": key.kid})

    async def verify(self, token: str) -> AccessClaims:
        """Return the claims of a valid token. Raises TokenRefused for anything else, never with the
        reason."""
        if len(token) > MAX_BYTES or not token.isascii():
            raise TokenRefused(INVALID)
        digest = hashlib.sha256(token.encode()).digest()
        known = self._verified.get(digest)
        if known is None:
            known = await self._verify(token)
            self._remember(digest, known)
        elif await self._keys.find(known.kid) is None:
            raise TokenRefused(INVALID)
        if known.expires_at <= self._clock.now().timestamp():
            raise known.claims.refusal()
        return known.claims

    async def _verify(self, token: str) -> "_Verified":
        try:
            header = jwt.get_unverified_header(token)
            key = await self._keys.find(_key_id(header))
            if key is None:
                raise jwt.InvalidKeyError
            claims = jwt.decode(
                token,
                key.public,
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                audience=AUDIENCE,
                # Times are compared with the service's clock, which tests can move.
                options={
                    "require": list(REQUIRED),
                    "strict_aud": True,
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWTError as error:
            raise TokenRefused(INVALID) from error
        self._check_times(claims)
        return _Verified(kid=key.kid, expires_at=claims["exp"], claims=_access_claims(claims))

    def _remember(self, digest: bytes, verified: "_Verified") -> None:
        self._verified[digest] = verified
        if len(self._verified) > REMEMBERED:
            self._verified.popitem(last=False)

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        issued_at, expires_at = claims["iat"], claims["exp"]
        if type(issued_at) is not int or type(expires_at) is not int:
            raise TokenRefused(INVALID)
        if issued_at > self._clock.now().timestamp() + CLOCK_SKEW.total_seconds():
            raise TokenRefused(INVALID)


def _key_id(header: Mapping[str, Any]) -> str:
    # An unexpected header (crit, jwk, jku, b64 ...) is none that we have written.
    if set(header) != HEADERS or header["typ"] != TYPE or header["alg"] != ALGORITHM:
        raise jwt.InvalidTokenError
    return str(header["kid"])


def _access_claims(claims: Mapping[str, Any]) -> AccessClaims:
    texts = [claims[name] for name in ("sub", "org_id", "sid")]
    if not all(isinstance(text, str) for text in texts):
        raise TokenRefused(INVALID)
    return AccessClaims(
        user_id=texts[0],
        org_id=OrgId(texts[1]),
        session_id=texts[2],
        username=str(claims.get("username", "")),
    )
