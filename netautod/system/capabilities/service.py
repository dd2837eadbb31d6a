"""The features that this installation has."""

from collections.abc import Mapping

from netautod.auth.providers import Providers
from netautod.users.models import LOCAL

FEATURES = ("scheduled_tasks", "rbac", "shared_docs", "audit_logging", "sso", "central_ai")


class Capabilities:
    """`installed`: whether this installation has a feature, by its name, for all of FEATURES but `sso`,
    which depends on the auth providers.
    """

    def __init__(self, *, instance_name: str, providers: Providers, installed: Mapping[str, bool]) -> None:
        self.instance_name = instance_name
        self._providers = providers
        self._installed = installed

    @property
    def features(self) -> dict[str, bool]:
        """All features by name, and whether each is enabled."""
        sso = any(on for name, on in self._providers.enabled.items() if name != LOCAL)
        found = {**self._installed, "sso": sso}
        return {name: found[name] for name in FEATURES}
