"""The part of the composition root about logins that other systems vouch for: LDAP and OIDC."""

from dataclasses import asdict

from netautod.app.foundation import Foundation
from netautod.app.parts.plugins import host_of
from netautod.app.plugins.manager import PluginManager
from netautod.auth.providers import LocalProvider, Providers
from netautod.auth.provisioning import Accounts, ProvisioningRules
from netautod.auth.redirect.service import RedirectLogins, RedirectRules
from netautod.auth.service import AuthService


def providers_of(base: Foundation, plugins: PluginManager) -> Providers:
    """The local provider and those that plugins register; raises PluginError for a required one."""
    return Providers([LocalProvider(base.users)], plugins.auth_providers(host_of(base)).values())


def accounts_of(base: Foundation) -> Accounts:
    sections = {"ldap": asdict(base.settings.ldap), "oidc": asdict(base.settings.oidc)}
    rules = {name: ProvisioningRules.of(values) for name, values in sections.items()}
    return Accounts(users=base.users, organizations=base.organizations, rules=rules)


def redirect_logins_of(base: Foundation, auth: AuthService, accounts: Accounts) -> RedirectLogins:
    oidc = base.settings.oidc
    return RedirectLogins(
        base.database,
        auth=auth,
        accounts=accounts,
        clock=base.clock,
        rules=RedirectRules(
            provider="oidc", callback_url=oidc.callback_url, redirect_uris=oidc.redirect_uris
        ),
    )
