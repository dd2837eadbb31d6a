"""The part of the composition root about logins that other systems vouch for: LDAP and OIDC."""

from netautod.app.foundation import Foundation
from netautod.app.plugins.manager import PluginManager
from netautod.auth.providers import LocalProvider, Providers
from netautod.auth.provisioning import Provisioning
from netautod.auth.redirect.service import RedirectLogins
from netautod.auth.service import AuthService


def providers_of(base: Foundation, plugins: PluginManager) -> Providers:
    """The local provider and those that plugins register; raises PluginError for a required one."""
    return Providers([LocalProvider(base.users)], plugins.auth_providers().values())


def provisioning_of(base: Foundation, providers: Providers) -> Provisioning:
    return Provisioning(users=base.users, organizations=base.organizations, rules=providers.provisioning)


def redirect_logins_of(base: Foundation, auth: AuthService, provisioning: Provisioning) -> RedirectLogins:
    return RedirectLogins(base.database, auth=auth, provisioning=provisioning, clock=base.clock)
