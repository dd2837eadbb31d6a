"""A second OpenID Connect provider: the code of the built-in one under a name and a section of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from netautod.plugin_api import AuthProvider, PluginHost, hookimpl
from netautod_oidc import OidcSettings


@dataclass(frozen=True, kw_only=True)
class AcmeSettings(OidcSettings):
    NAME: ClassVar[str] = "acme_sso"


@hookimpl
def netautod_register_settings(register: Callable[[type[AcmeSettings]], None]) -> None:
    register(AcmeSettings)


@hookimpl
def netautod_register_auth_providers(
    register: Callable[[AuthProvider], None], host: PluginHost[AcmeSettings]
) -> None:
    if host.settings.enabled:
        from netautod_oidc.provider import OidcProvider

        register(OidcProvider(host.settings, http=host.http))
