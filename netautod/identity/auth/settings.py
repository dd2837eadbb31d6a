"""The settings of logins, of seats and of SSH certificates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netautod.core.settings.field import setting
from netautod.core.settings.risks import RiskRule

# Below one of these a guesser has more than a hundred tries an hour from one address (OWASP ASVS 5.0, 6.3.1).
MOST_FAILURES, SHORTEST_LOCKOUT = 100, 60
ROOT = "root"


@dataclass(frozen=True, kw_only=True)
class AuthSettings:
    RISKS: ClassVar[tuple[RiskRule["AuthSettings"], ...]] = (
        RiskRule(
            name="weak-lockout",
            cause="`auth.lockout_failures` over 100, or a window or lockout of under a minute",
            text="passwords can be guessed by the thousand from one address",
            found=lambda one: _weak_lockout(one),
        ),
    )

    access_token_seconds: int = setting(3600, "Life of an access token.", low=600)
    refresh_token_days: float = setting(7.0, "Life of one refresh token.", low=0.01)
    refresh_family_days: float = setting(30.0, "Life of a login however often it is refreshed.", low=0.01)
    api_token_days: float = setting(90.0, "Life of an API token that is made without an end.", low=0.01)
    password_min_length: int = setting(12, "Shortest password accepted.", low=8, high=256)
    session_cache_seconds: float = setting(1.0, "Age at most of a cached session check.", low=0, high=1)
    directory_lookup_seconds: int = setting(
        900, "Seconds after which a refresh has a directory's user looked up there again.", low=1
    )
    require_otp_roles: tuple[str, ...] = setting(
        (), "Local users with one of these roles must have a one-time code."
    )
    lockout_failures: int = setting(10, "Failed logins from one address until it is locked out.", low=1)
    lockout_window: int = setting(900, "Seconds in which failed logins are counted together.", low=1)
    lockout_seconds: int = setting(900, "Seconds that an address stays locked out.", low=1)


@dataclass(frozen=True, kw_only=True)
class LicenseSettings:
    seats: int = setting(0, "Terminal sessions that may be in use at a time; 0: unlimited.", low=0)
    seat_idle_minutes: float = setting(
        120.0, "A seat is free after so many minutes without a request.", low=0.01
    )


@dataclass(frozen=True, kw_only=True)
class SshCaSettings:
    RISKS: ClassVar[tuple[RiskRule["SshCaSettings"], ...]] = (
        RiskRule(
            name="root-certificates",
            cause="no `root` in `ssh_ca.reserved_principals`",
            text="a user of that name gets SSH certificates that every host takes for root",
            found=lambda one: (
                [] if ROOT in one.reserved_principals else [f"ssh_ca.reserved_principals lacks {ROOT}"]
            ),
        ),
    )

    reserved_principals: tuple[str, ...] = setting(("root",), "Names for which no SSH certificate is signed.")


def _weak_lockout(auth: AuthSettings) -> Sequence[str]:
    found = []
    if auth.lockout_failures > MOST_FAILURES:
        found.append(f"auth.lockout_failures over {MOST_FAILURES}")
    if min(auth.lockout_window, auth.lockout_seconds) < SHORTEST_LOCKOUT:
        found.append(f"auth.lockout_window or auth.lockout_seconds under {SHORTEST_LOCKOUT}")
    return found
