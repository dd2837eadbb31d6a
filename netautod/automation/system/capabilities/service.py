"""The features that this installation has, and the permissions as clients look for them."""

from collections.abc import Iterable, Mapping

from netautod.core.identity.permissions import PermissionKeys, grants
from netautod.identity.auth.providers.registry import Providers
from netautod.identity.users.models import LOCAL

FEATURES = ("scheduled_tasks", "rbac", "shared_docs", "audit_logging", "sso", "central_ai")
# Keys by which the NetStacks desktop client shows devices and agents, with the permission that each needs
# here. They are shown, and are no permissions: no role or token can have one.
ALSO_SHOWN = {"sessions.connect": "devices.access", "agents.manage": "tasks.operate"}


def shown_permissions(held: Iterable[str], of_plugins: Iterable[str] = ()) -> list[str]:
    """Return the held keys in order, with those that clients look for, and those of plugins that wildcards
    grant.
    """
    held = frozenset(held)
    also = {shown for shown, needed in ALSO_SHOWN.items() if grants(held, needed)}
    also |= {key for key in of_plugins if grants(held, key)}
    return sorted(held | also)


class Capabilities:
    """The features of this installation.

    `installed` says for each of FEATURES whether it is installed, except `sso`, which depends on the auth
    providers. `permissions` are the existing keys.
    """

    def __init__(
        self,
        *,
        instance_name: str,
        providers: Providers,
        installed: Mapping[str, bool],
        permissions: PermissionKeys,
    ) -> None:
        self.permissions = permissions
        self.instance_name = instance_name
        self._providers = providers
        self._installed = installed

    @property
    def features(self) -> dict[str, bool]:
        """Return all features by name, and whether each is enabled."""
        sso = any(on for name, on in self._providers.enabled.items() if name != LOCAL)
        found = {**self._installed, "sso": sso}
        return {name: found[name] for name in FEATURES}
