"""The section `[oidc]` of the settings, and the values that are derived from it."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from netautod.plugin_api import (
    ProvisioningRules,
    RedirectRules,
    RiskRule,
    RoleMap,
    SettingsError,
    is_this_machine,
    setting,
)

LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Public-key signatures only: with HS* a verifier can sign, with `none` anyone.
SIGNATURES = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """The settings. `timeout_seconds` bounds each request to the provider.

    A plugin may bring another provider of this kind: its section is a subclass with a `NAME` of its own,
    which names plugin, section and provider.
    """

    NAME: ClassVar[str] = "oidc"
    RISKS: ClassVar[tuple[RiskRule["OidcSettings"], ...]] = (
        RiskRule(
            name="oidc-redirect-in-clear",
            cause="an `http://` address of another machine in `oidc.redirect_uris`",
            text="tokens of logins cross the network in clear",
            found=lambda one: [
                f"{one.NAME}.redirect_uris: {uri}" for uri in one.redirect_uris if _in_clear(uri)
            ],
        ),
        RiskRule(
            name="directory-gives-admin",
            cause="role `admin` in `default_roles` of `[ldap]` or `[oidc]` with `auto_provision`",
            text="every user of the directory becomes an administrator",
            found=lambda one: (
                [f"{one.NAME}.default_roles"] if one.auto_provision and "admin" in one.default_roles else ()
            ),
        ),
    )

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
    scopes: tuple[str, ...] = setting(
        ("openid", "profile", "email"),
        "Scopes to request; offline_access for providers that give a refresh token only then.",
    )
    algorithms: tuple[str, ...] = setting(
        ("RS256", "PS256", "ES256", "EdDSA"), "Signatures of id_tokens that are accepted."
    )
    username_claim: str = setting("preferred_username", "Claim with the username in netautod.")
    roles_claim: str = setting("groups", "Claim with the groups of role_map; a.b for b inside a.")
    groups_endpoint: str = setting(
        "",
        "Where groups are read, with the user's access token, if the claims lack them; empty: nowhere.",
    )
    ca_file: str = setting("", "PEM file of the only authorities to trust; empty: the system's.")
    timeout_seconds: float = setting(10.0, "Seconds for each answer of the provider.", low=0.1, high=60)
    auto_provision: bool = setting(False, "Create a user at the first login of an unknown person.")
    organization: str = setting("default", "Organization of users created so.")
    default_roles: tuple[str, ...] = setting((), "Roles of users created so, beside those of role_map.")
    role_map: tuple[str, ...] = setting((), "Lines ROLE = GROUP, applied at every login.")

    def check(self) -> None:
        """Check an enabled section; a disabled one may be incomplete."""
        try:
            RoleMap.parse(self.role_map)
        except ValueError as error:
            raise self._wrong("role_map:", str(error)) from error
        try:
            _ = self.redirects
        except ValueError as error:
            raise self._wrong("redirect_uris:", str(error)) from error
        if self.enabled:
            self._check_complete()

    def _check_complete(self) -> None:
        _check_https(f"{self.NAME}.issuer", self.issuer)
        _check_https(f"{self.NAME}.callback_url", self.callback_url)
        if self.groups_endpoint:
            _check_https(f"{self.NAME}.groups_endpoint", self.groups_endpoint, query=True)
        endings = self.callback_paths
        if not urlsplit(self.callback_url).path.endswith(endings):
            raise self._wrong("callback_url", f"must end with {' or '.join(endings)}")
        if not self.client_id:
            raise self._wrong("client_id", "must be set")
        if "openid" not in self.scopes:
            raise self._wrong("scopes", "must contain openid")
        if not self.algorithms or not SIGNATURES.issuperset(self.algorithms):
            raise self._wrong("algorithms", f"may list {', '.join(sorted(SIGNATURES))}")

    def _wrong(self, name: str, text: str) -> SettingsError:
        return SettingsError(f"{self.NAME}.{name} {text}")

    @property
    def callback_paths(self) -> tuple[str, ...]:
        """Return the allowed endings of `callback_url`."""
        own = f"/api/auth/providers/{self.NAME}/callback"
        return ("/api/auth/oidc/callback", own) if self.NAME == "oidc" else (own,)

    @property
    def provisioning(self) -> ProvisioningRules:
        return ProvisioningRules(
            auto_provision=self.auto_provision,
            organization=self.organization,
            default_roles=self.default_roles,
            role_map=RoleMap.parse(self.role_map),
        )

    @property
    def redirects(self) -> RedirectRules:
        return RedirectRules(callback_url=self.callback_url, redirect_uris=self.redirect_uris)


def _in_clear(uri: str) -> bool:
    parts = urlsplit(uri)
    return parts.scheme == "http" and not is_this_machine(parts.hostname or "")


def _check_https(key: str, url: str, *, query: bool = False) -> None:
    """Raise SettingsError for an address that is not safe; `query`: it may have one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise SettingsError(f"{key} is not a URL") from error
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    if not safe or not host or (parts.query and not query) or parts.fragment:
        without = "" if query else " without query"
        raise SettingsError(f"{key} must be an https:// URL{without} (http:// on this machine only)")
