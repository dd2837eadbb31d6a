"""The hook of auth providers: what a plugin is given, what it may register, and what a broken one spoils."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from netautod.core.errors import InvalidInput, NotFound
from netautod.identity.auth.providers.registry import Providers
from netautod.plugin_api import (
    AuthProvider,
    Identity,
    PluginHost,
    ProbeResult,
    ProvisioningRules,
    RedirectAttempt,
    RedirectRules,
    hookimpl,
)
from netautod.plugin_host.loading.loader import LoadedPlugins, PluginError
from netautod.plugin_host.manager import HostValues, PluginManager


class Closing:
    provisioning = ProvisioningRules()

    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False

    async def close(self) -> None:
        self.closed = True


class Password(Closing):
    async def authenticate(self, username: str, password: str) -> Identity | None:
        return Identity(username=username)

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        return ProbeResult(success=True, message="")


class Redirect(Closing):
    redirects = RedirectRules(callback_url="https://x.example/api/auth/oidc/callback")

    async def authorize(self, attempt: RedirectAttempt) -> str:
        return "https://login.example/"

    async def callback(self, attempt: RedirectAttempt, parameters: Any) -> Identity:
        return Identity(username="ada")


Register = Callable[[AuthProvider], None]


def plugin(function: Callable[..., None]) -> Any:
    made = ModuleType("plugin")
    made.netautod_register_auth_providers = hookimpl(function)  # type: ignore[attr-defined]
    return made


def test_a_plugin_is_given_its_section_and_the_guarded_client() -> None:
    given: list[Any] = []

    def netautod_register_auth_providers(register: Register, host: PluginHost[str]) -> None:
        given.extend((host.settings, host.http))
        register(Password("ldap"))

    values = HostValues(settings={"one": "its own", "two": "another's"})
    loaded = LoadedPlugins.of({"one": plugin(netautod_register_auth_providers)})
    manager = PluginManager(loaded, values=values)
    assert list(manager.auth_providers()) == ["ldap"]
    assert given == ["its own", values.http]


def test_a_plugin_may_leave_the_host_out() -> None:
    def netautod_register_auth_providers(register: Register) -> None:
        register(Redirect("oidc"))

    loaded = LoadedPlugins.of({"one": plugin(netautod_register_auth_providers)})
    manager = PluginManager(loaded)
    assert list(manager.auth_providers()) == ["oidc"]


@pytest.mark.parametrize("name", ["local", "SAML", "2fa", "corp sso", "ldap/../x", "a" * 33, "", 7])
def test_other_names_are_refused(name: Any) -> None:
    def netautod_register_auth_providers(register: Register) -> None:
        register(Password(name))

    loaded = LoadedPlugins.of({"one": plugin(netautod_register_auth_providers)})
    manager = PluginManager(loaded)
    assert manager.auth_providers() == {}
    assert "name of the auth provider Password is not 1 to 32" in (manager.statuses[0].error or "")


def test_the_first_plugin_keeps_the_name_and_a_broken_one_spoils_no_other() -> None:
    def first(register: Register) -> None:
        register(Password("ldap"))

    def breaks(register: Register) -> None:
        raise RuntimeError("broken")

    given = {"c": plugin(first), "b": plugin(breaks), "a": plugin(first)}
    manager = PluginManager(LoadedPlugins.of(given))
    assert list(manager.auth_providers()) == ["ldap"]
    errors = {status.name: status.error for status in manager.statuses}
    assert errors["b"] == "netautod_register_auth_providers: RuntimeError: broken"
    assert "another plugin already registers" in (errors["a"] or "")
    assert errors["c"] is None


def test_a_required_plugin_that_breaks_is_fatal() -> None:
    def breaks(register: Register) -> None:
        raise RuntimeError("broken")

    loaded = LoadedPlugins.of({"one": plugin(breaks)})
    manager = PluginManager(loaded, required=["one"])
    with pytest.raises(PluginError, match="one"):
        manager.auth_providers()


async def test_which_provider_can_do_what() -> None:
    password, redirect = Password("ldap"), Redirect("oidc")
    providers = Providers([], [password, redirect])
    assert providers.get("ldap") is password
    assert providers.testable("ldap") is password
    assert providers.redirect("oidc") is redirect
    for wrong, why in (
        (lambda: providers.get("oidc"), "OIDC takes no password"),
        (lambda: providers.testable("oidc"), "OIDC cannot be tried out"),
        (lambda: providers.redirect("ldap"), "LDAP takes a password"),
        (lambda: providers.get("local"), "Local login is not enabled"),
        (lambda: providers.get("radius"), "There is no auth provider 'radius'"),
    ):
        with pytest.raises(InvalidInput, match=why):
            wrong()
    for unknown in (providers.testable, providers.redirect):
        with pytest.raises(NotFound, match="There is no auth provider 'radius'"):
            unknown("radius")
    assert providers.enabled == {"local": False, "ldap": True, "oidc": True}
    await providers.close()
    assert (password.closed, redirect.closed) == (True, True)
