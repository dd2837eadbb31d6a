"""The sections of settings about logins through LDAP and OIDC and about SSH certificates, and their rules."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from netautod.auth.redirect.uris import uri_mistake
from netautod.auth.role_map import RoleMap
from netautod.core.settings.field import SettingsError, setting

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LDAP_URL = re.compile(r"ldaps?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?")
# Keys of both sides in one (HS*) and none at all would let anybody sign.
SIGNATURES = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)


@dataclass(frozen=True, kw_only=True)
class AuthSettings:
    access_token_seconds: int = setting(3600, "Life of an access token.", low=600)
    refresh_token_days: float = setting(7.0, "Life of one refresh token.", low=0.01)
    refresh_family_days: float = setting(30.0, "Life of a login however often it is refreshed.", low=0.01)
    password_min_length: int = setting(12, "Shortest password accepted.", low=8, high=256)
    session_cache_seconds: float = setting(1.0, "Age at most of a cached session check.", low=0, high=1)
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
class LdapSettings:
    enabled: bool = setting(False, "Logins through an LDAP directory.")
    urls: tuple[str, ...] = setting((), "Servers as ldap://HOST[:PORT] or ldaps://HOST[:PORT], in order.")
    start_tls: bool = setting(True, "Encrypt ldap:// connections with StartTLS before anything is sent.")
    verify_tls: bool = setting(True, "Refuse servers whose certificate is not valid.")
    ca_file: str = setting("", "PEM file of the only authorities to trust; empty: the system's.")
    bind_dn: str = setting("", "Entry that searches for users; empty: an anonymous search.")
    bind_password: str = setting("", "Password of bind_dn.", secret=True)
    user_dn: str = setting(
        "", "Direct bind: the user's DN with {username} in it; empty: search for the user first."
    )
    base_dn: str = setting("", "Where users are searched for.")
    user_filter: str = setting("(uid={username})", "Filter that finds exactly one entry.")
    username_attribute: str = setting("uid", "Attribute with the username in netautod.")
    id_attribute: str = setting("entryUUID", "Attribute that never changes; objectGUID in Active Directory.")
    email_attribute: str = setting("mail", "Attribute with the mail address.")
    name_attribute: str = setting("displayName", "Attribute with the name to show.")
    group_attribute: str = setting("memberOf", "Attribute of the user with his groups; empty: none.")
    group_base_dn: str = setting("", "Where groups are searched for; empty: group_attribute alone counts.")
    group_filter: str = setting(
        "(|(member={dn})(uniqueMember={dn})(memberUid={username}))", "Filter of the groups of a user."
    )
    timeout_seconds: int = setting(5, "Seconds to connect, and for each answer.", low=1, high=60)
    threads: int = setting(8, "Logins that ask the directory at the same time.", low=1, high=64)
    auto_provision: bool = setting(False, "Make a user at the first login of somebody unknown.")
    organization: str = setting("default", "Organization of users made so.")
    default_roles: tuple[str, ...] = setting((), "Roles of users made so, beside those of role_map.")
    role_map: tuple[str, ...] = setting((), "Lines ROLE = GROUP (DN or name), applied at every login.")


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    enabled: bool = setting(False, "Logins through an OpenID Connect provider.")
    issuer: str = setting("", "The provider's issuer, exactly as it calls itself.")
    client_id: str = setting("", "Our client id at the provider.")
    client_secret: str = setting("", "Our client secret; empty: a public client.", secret=True)
    callback_url: str = setting(
        "", "This service's /api/auth/oidc/callback as browsers reach it, registered at the provider."
    )
    redirect_uris: tuple[str, ...] = setting(
        (), "Where a login may end, compared exactly; an entry on 127.0.0.1 or [::1] matches any port."
    )
    scopes: tuple[str, ...] = setting(("openid", "profile", "email"), "Scopes to ask for.")
    algorithms: tuple[str, ...] = setting(
        ("RS256", "PS256", "ES256", "EdDSA"), "Signatures of id_tokens that are accepted."
    )
    username_claim: str = setting("preferred_username", "Claim with the username in netautod.")
    roles_claim: str = setting("groups", "Claim with the groups of role_map; a.b for b inside a.")
    ca_file: str = setting("", "PEM file of the only authorities to trust; empty: the system's.")
    timeout_seconds: float = setting(10.0, "Seconds for each answer of the provider.", low=0.1, high=60)
    auto_provision: bool = setting(False, "Make a user at the first login of somebody unknown.")
    organization: str = setting("default", "Organization of users made so.")
    default_roles: tuple[str, ...] = setting((), "Roles of users made so, beside those of role_map.")
    role_map: tuple[str, ...] = setting((), "Lines ROLE = GROUP, applied at every login.")


@dataclass(frozen=True, kw_only=True)
class SshCaSettings:
    reserved_principals: tuple[str, ...] = setting(("root",), "Users who get no SSH certificate.")


def check_ldap(ldap: LdapSettings) -> None:
    """Raises SettingsError; a section that is not enabled may be incomplete."""
    _check_role_map("ldap", ldap.role_map)
    if not ldap.enabled:
        return
    if not ldap.urls or not all(LDAP_URL.fullmatch(url) for url in ldap.urls):
        raise SettingsError("ldap.urls must list ldap://HOST[:PORT] or ldaps://HOST[:PORT]")
    if not ldap.base_dn and not ldap.user_dn:
        raise SettingsError("ldap.base_dn or ldap.user_dn must be set")
    if ldap.user_dn and "{username}" not in ldap.user_dn:
        raise SettingsError("ldap.user_dn must contain {username}")
    if "{username}" not in ldap.user_filter:
        raise SettingsError("ldap.user_filter must contain {username}")
    if ldap.bind_dn and not ldap.bind_password:
        # RFC 4513 5.1.2: a bind with a name and no password is anonymous, and succeeds.
        raise SettingsError("ldap.bind_password must be set with ldap.bind_dn")


def check_oidc(oidc: OidcSettings) -> None:
    """Raises SettingsError; a section that is not enabled may be incomplete."""
    _check_role_map("oidc", oidc.role_map)
    for uri in oidc.redirect_uris:
        mistake = uri_mistake(uri)
        if mistake is not None:
            raise SettingsError(f"oidc.redirect_uris: {uri!r} {mistake}")
    if not oidc.enabled:
        return
    for name in ("issuer", "callback_url"):
        _check_https(f"oidc.{name}", getattr(oidc, name))
    if not urlsplit(oidc.callback_url).path.endswith("/api/auth/oidc/callback"):
        raise SettingsError("oidc.callback_url must end with /api/auth/oidc/callback")
    if not oidc.client_id:
        raise SettingsError("oidc.client_id must be set")
    if "openid" not in oidc.scopes:
        raise SettingsError("oidc.scopes must contain openid")
    if not oidc.algorithms or not SIGNATURES.issuperset(oidc.algorithms):
        raise SettingsError(f"oidc.algorithms may list {', '.join(sorted(SIGNATURES))}")


def _check_https(key: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise SettingsError(f"{key} is not a URL") from error
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    if not safe or not host or parts.query or parts.fragment:
        raise SettingsError(f"{key} must be an https:// URL without query (http:// on this machine only)")


def _check_role_map(section: str, lines: tuple[str, ...]) -> None:
    try:
        RoleMap.parse(lines)
    except ValueError as error:
        raise SettingsError(f"{section}.role_map: {error}") from error
