"""The part of the composition root about logins that other systems vouch for: LDAP and OIDC."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from netautod.auth.providers import LocalProvider, Providers
from netautod.auth.provisioning import Accounts, ProvisioningRules
from netautod.auth.redirect_login import RedirectLogins, RedirectRules
from netautod.auth.service import AuthService
from netautod.foundation import Foundation
from netautod.plugin_auth import AuthHost
from netautod.plugin_manager import PluginManager
from netautod.settings import Settings


def providers_of(base: Foundation, plugins: PluginManager) -> Providers:
    """The local provider and those that plugins register; raises PluginError for a required one."""
    host = AuthHost(section=lambda name: _sections(base.settings)[name], http=base.http)
    return Providers([LocalProvider(base.users)], plugins.auth_providers(host).values())


def accounts_of(base: Foundation) -> Accounts:
    rules = {name: ProvisioningRules.of(values) for name, values in _sections(base.settings).items()}
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


def _sections(settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """What plugins are shown of the settings: the section that is theirs."""
    return {"ldap": asdict(settings.ldap), "oidc": asdict(settings.oidc)}
