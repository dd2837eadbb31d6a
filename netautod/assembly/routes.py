"""All routes that are served, in the order in which the OpenAPI description lists them."""

from collections.abc import Sequence
from typing import Any

from netautod.activity.audit import handlers as audit
from netautod.activity.events import handlers as events
from netautod.activity.webhooks import handlers as webhooks
from netautod.activity.webhooks.names import EventNames
from netautod.assembly.plugins import Additions
from netautod.automation.agents import handlers as agents
from netautod.automation.executions import handlers as executions
from netautod.automation.executions.history import handlers as history
from netautod.automation.summary import handlers as summary
from netautod.automation.system import handlers as system
from netautod.automation.system.capabilities import handlers as capabilities
from netautod.automation.tasks import handlers as tasks
from netautod.automation.tasks.models import TASK_TYPES
from netautod.core.identity.permissions import PermissionKeys
from netautod.documents import handlers as docs
from netautod.documents.notes import handlers as notes
from netautod.http.description import docs_page, openapi
from netautod.http.routing.routes import Route
from netautod.http.status import health
from netautod.identity.auth import handlers as auth
from netautod.identity.auth.account import handlers as account
from netautod.identity.auth.otp import handlers as otp
from netautod.identity.auth.redirect import handlers as oidc
from netautod.identity.auth.ssh_ca import handlers as ssh_ca
from netautod.identity.auth.tokens import handlers as api_tokens
from netautod.identity.users import handlers as users
from netautod.identity.users.roles import handlers as roles
from netautod.network.configs import handlers as configs
from netautod.network.credentials import handlers as credentials
from netautod.network.devices import handlers as devices
from netautod.network.devices.host_keys import handlers as host_keys
from netautod.network.devices.operations import handlers as device_operations
from netautod.network.devices.vouching import handlers as vouching
from netautod.network.discovery import handlers as discovery
from netautod.network.inventory import handlers as inventory
from netautod.network.inventory.imports import handlers as imports
from netautod.network.inventory.sync import handlers as syncs
from netautod.network.sites import handlers as sites

ROUTES: tuple[Route, ...] = (
    *account.ROUTES,
    *agents.ROUTES,
    *otp.ROUTES,
    *api_tokens.ROUTES,
    *audit.ROUTES,
    *capabilities.ROUTES,
    *auth.ROUTES,
    *oidc.ROUTES,
    *roles.ROUTES,
    *ssh_ca.ROUTES,
    *users.ROUTES,
    *configs.ROUTES,
    *credentials.ROUTES,
    *devices.ROUTES,
    *discovery.ROUTES,
    *docs_page.ROUTES,
    *docs.ROUTES,
    *events.ROUTES,
    *executions.ROUTES,
    *history.ROUTES,
    *health.ROUTES,
    *imports.ROUTES,
    *device_operations.ROUTES,
    *host_keys.ROUTES,
    *vouching.ROUTES,
    *inventory.ROUTES,
    *syncs.ROUTES,
    *sites.ROUTES,
    *summary.ROUTES,
    *system.ROUTES,
    *tasks.ROUTES,
    *webhooks.ROUTES,
    *notes.ROUTES,
    *openapi.ROUTES,
)


def description(task_types: Sequence[str] = TASK_TYPES, additions: Additions | None = None) -> dict[str, Any]:
    """Return the OpenAPI description of all routes, with what the plugins add."""
    added = additions or Additions()
    return openapi.document((*ROUTES, *added.routes), choices(task_types, added))


def choices(
    task_types: Sequence[str] = TASK_TYPES, additions: Additions | None = None
) -> dict[str, Sequence[str]]:
    """Return the choices of the fields whose metadata name one as `x-choices`."""
    added, permissions = additions or Additions(), PermissionKeys()
    permissions.add(added.permissions)
    return {
        "task_type": task_types,
        "event": EventNames(added.events).known(),
        "content_type": added.content_types.names,
        "permission": permissions.choices,
    }
