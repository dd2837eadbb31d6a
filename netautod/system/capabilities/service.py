"""The features of this installation, and the permissions of the caller."""

from collections.abc import Mapping
from typing import Any

from netautod import __version__
from netautod.auth.providers import Providers
from netautod.core.identity import Caller
from netautod.users.models import LOCAL

LICENSE_TIER = "enterprise"
FEATURES = ("scheduled_tasks", "rbac", "shared_docs", "audit_logging", "sso", "central_ai")


class Capabilities:
    """`installed`: whether this installation has a feature, by its name, for all of FEATURES but `sso`,
    which depends on the auth providers.
    """

    def __init__(self, *, instance_name: str, providers: Providers, installed: Mapping[str, bool]) -> None:
        self._instance_name = instance_name
        self._providers = providers
        self._installed = installed

    def to_json(self, caller: Caller) -> dict[str, Any]:
        """`permissions` are those of the caller: of an API token what it may do, not what its owner may."""
        found = {**self._installed, "sso": self._sso()}
        return {
            "version": __version__,
            "license_tier": LICENSE_TIER,
            "instance_name": self._instance_name,
            "features": [{"name": name, "enabled": found[name]} for name in FEATURES],
            "permissions": sorted(caller.permissions),
        }

    def _sso(self) -> bool:
        listed = self._providers.to_json()["providers"]
        return any(provider["enabled"] for provider in listed if provider["name"] != LOCAL)
