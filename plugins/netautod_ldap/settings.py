"""The section `[ldap]` of the settings, and the values that are derived from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from netautod.plugin_api import (
    ProvisioningRules,
    RiskRule,
    RoleMap,
    SettingsError,
    is_this_machine,
    setting,
)

URL = re.compile(r"ldaps?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?")
BELOW_USERNAME = re.compile(r"^.*\{username\}[^,]*,?")
DEFAULT_PORTS = {"ldap": 389, "ldaps": 636}


@dataclass(frozen=True, kw_only=True)
class ServerAddress:
    host: str
    port: int
    ldaps: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'ldaps' if self.ldaps else 'ldap'}://{host}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class LdapSettings:
    """The settings. `timeout_seconds` bounds each step, `deadline` a whole login."""

    RISKS: ClassVar[tuple[RiskRule["LdapSettings"], ...]] = (
        RiskRule(
            name="ldap-without-tls",
            cause="a server of `ldap.urls` on another machine without StartTLS, or with "
            "`ldap.verify_tls = false`",
            text="an attacker on the way to the directory reads passwords, or decides who may log in",
            found=lambda one: _without_tls(one),
        ),
        RiskRule(
            name="directory-gives-admin",
            cause="role `admin` in `default_roles` of `[ldap]` or `[oidc]` with `auto_provision`",
            text="every user of the directory becomes an administrator",
            found=lambda one: (
                ["ldap.default_roles"] if one.auto_provision and "admin" in one.default_roles else ()
            ),
        ),
    )

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
    group_attribute: str = setting("memberOf", "Attribute of the user with the groups; empty: none.")
    group_base_dn: str = setting("", "Where groups are searched for; empty: group_attribute alone counts.")
    group_filter: str = setting(
        "(|(member={dn})(uniqueMember={dn})(memberUid={username}))", "Filter of the groups of a user."
    )
    disabled_filter: str = setting(
        "", "Filter that the entry of a disabled user matches, beside the attributes that are known for it."
    )
    timeout_seconds: int = setting(5, "Seconds to connect, and for each answer.", low=1, high=60)
    threads: int = setting(8, "Logins that use the directory at the same time.", low=1, high=64)
    auto_provision: bool = setting(False, "Create a user at the first login of an unknown person.")
    organization: str = setting("default", "Organization of users created so.")
    default_roles: tuple[str, ...] = setting((), "Roles of users created so, beside those of role_map.")
    role_map: tuple[str, ...] = setting((), "Lines ROLE = GROUP (DN or name), applied at every login.")

    def check(self) -> None:
        """Check an enabled section; a disabled one may be incomplete."""
        try:
            RoleMap.parse(self.role_map)
        except ValueError as error:
            raise SettingsError(f"ldap.role_map: {error}") from error
        if not self.enabled:
            return
        if not self.urls or not all(URL.fullmatch(url) for url in self.urls):
            raise SettingsError("ldap.urls must list ldap://HOST[:PORT] or ldaps://HOST[:PORT]")
        if not self.base_dn and not self.user_dn:
            raise SettingsError("ldap.base_dn or ldap.user_dn must be set")
        if self.user_dn and "{username}" not in self.user_dn:
            raise SettingsError("ldap.user_dn must contain {username}")
        if "{username}" not in self.user_filter:
            raise SettingsError("ldap.user_filter must contain {username}")
        if self.bind_dn and not self.bind_password:
            # RFC 4513 5.1.2: a bind with a name and no password is anonymous, and succeeds.
            raise SettingsError("ldap.bind_password must be set with ldap.bind_dn")

    @property
    def provisioning(self) -> ProvisioningRules:
        return ProvisioningRules(
            auto_provision=self.auto_provision,
            organization=self.organization,
            default_roles=self.default_roles,
            role_map=RoleMap.parse(self.role_map),
        )

    @property
    def deadline(self) -> float:
        """Return the seconds after which a login is given up, also for servers that answer byte by byte."""
        return 3.0 * self.timeout_seconds

    @property
    def servers(self) -> list[ServerAddress]:
        """Return the servers in the order in which they are tried."""
        found = []
        for url in self.urls:
            parts = urlsplit(url)
            port = parts.port or DEFAULT_PORTS[parts.scheme]
            found.append(ServerAddress(host=parts.hostname or "", port=port, ldaps=parts.scheme == "ldaps"))
        return found

    @property
    def users_dn(self) -> str:
        """Return the entry below which the users are; empty if the settings do not name it."""
        return self.base_dn or BELOW_USERNAME.sub("", self.user_dn)

    @property
    def user_attributes(self) -> list[str]:
        """Return the attributes that are read of a user's entry."""
        names = (
            self.username_attribute,
            self.id_attribute,
            self.email_attribute,
            self.name_attribute,
            self.group_attribute,
        )
        return [name for name in dict.fromkeys(names) if name]


def _without_tls(settings: LdapSettings) -> Sequence[str]:
    """List the servers whose certificate is not verified: such a server may be an attacker's."""
    if not settings.enabled:
        return ()
    return [
        f"ldap.urls: {address}"
        for address in settings.servers
        if not is_this_machine(address.host)
        and not (settings.verify_tls and (address.ldaps or settings.start_tls))
    ]
