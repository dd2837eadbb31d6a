"""Access tokens: JWTs of one algorithm and one type, signed and verified with our own ring of keys only.

Follows RFC 8725: the algorithm is fixed (3.1), the key comes from our ring and never from the token (3.10),
issuer, audience and explicit type are checked (3.8, 3.9, 3.11). Claims tell clients who they are; what
a caller may do is never read from the token.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jwt

from netautod.auth.models import Session
from netautod.auth.signing_keys import SigningKeys
from netautod.clock import Clock
from netautod.errors import Unauthenticated
from netautod.store.client import OrgId
from netautod.users.models import User

ALGORITHM = "EdDSA"
TYPE = "at+jwt"  # RFC 9068 2.1
ISSUER = "netautod"
AUDIENCE = "netautod-api"
MAX_BYTES = 8192
REQUIRED = ("iss", "aud", "exp", "iat", "sub", "sid", "org_id", "jti")
HEADERS = frozenset({"alg", "typ", "kid"})
CLOCK_SKEW = timedelta(seconds=60)
INVALID = "Invalid or expired token"


@dataclass(frozen=True, kw_only=True)
class AccessClaims:
    """What a valid token says that we go by."""

    user_id: str
    org_id: OrgId
    session_id: str


class AccessTokens:
    """`lifetime_seconds` is the setting auth.access_token_seconds."""

    def __init__(self, keys: SigningKeys, *, clock: Clock, lifetime_seconds: int) -> None:
        self._keys = keys
        self._clock = clock
        self.lifetime = timedelta(seconds=lifetime_seconds)

    async def issue(self, user: User, session: Session) -> str:
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
        """The claims of a valid token; Unauthenticated for anything else, never telling why."""
        if len(token) > MAX_BYTES or not token.isascii():
            raise Unauthenticated(INVALID)
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
                # Times are compared below with the service's clock, which tests can move.
                options={
                    "require": list(REQUIRED),
                    "strict_aud": True,
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(INVALID) from error
        self._check_times(claims)
        return _access_claims(claims)

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        issued_at, expires_at = claims["iat"], claims["exp"]
        if type(issued_at) is not int or type(expires_at) is not int:
            raise Unauthenticated(INVALID)
        now = self._clock.now().timestamp()
        if expires_at <= now or issued_at > now + CLOCK_SKEW.total_seconds():
            raise Unauthenticated(INVALID)


def _key_id(header: Mapping[str, Any]) -> str:
    # An unexpected header (crit, jwk, jku, b64 ...) is none that we have written.
    if set(header) != HEADERS or header["typ"] != TYPE or header["alg"] != ALGORITHM:
        raise jwt.InvalidTokenError
    return str(header["kid"])


def _access_claims(claims: Mapping[str, Any]) -> AccessClaims:
    texts = [claims[name] for name in ("sub", "org_id", "sid")]
    if not all(isinstance(text, str) for text in texts):
        raise Unauthenticated(INVALID)
    return AccessClaims(user_id=texts[0], org_id=OrgId(texts[1]), session_id=texts[2])
