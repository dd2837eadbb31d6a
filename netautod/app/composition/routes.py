"""All routes that are served, in the order in which the OpenAPI description lists them."""

from collections.abc import Iterable
from typing import Any

from netautod.agents import handlers as agents
from netautod.audit import handlers as audit
from netautod.auth import handlers as auth
from netautod.auth.account import handlers as account
from netautod.auth.otp import handlers as otp
from netautod.auth.redirect import handlers as oidc
from netautod.auth.ssh_ca import handlers as ssh_ca
from netautod.auth.tokens import handlers as api_tokens
from netautod.configs import handlers as configs
from netautod.credentials import handlers as credentials
from netautod.devices import handlers as devices
from netautod.devices.host_keys import handlers as host_keys
from netautod.devices.operations import handlers as device_operations
from netautod.devices.vouching import handlers as vouching
from netautod.discovery import handlers as discovery
from netautod.docs import handlers as docs
from netautod.docs.notes import handlers as notes
from netautod.events import handlers as events
from netautod.executions import handlers as executions
from netautod.executions.history import handlers as history
from netautod.http import docs_page, health, openapi
from netautod.http.routes import Route
from netautod.inventory import handlers as inventory
from netautod.inventory.imports import handlers as imports
from netautod.inventory.sync import handlers as syncs
from netautod.sites import handlers as sites
from netautod.summary import handlers as summary
from netautod.system import handlers as system
from netautod.system.capabilities import handlers as capabilities
from netautod.tasks import handlers as tasks
from netautod.users import handlers as users
from netautod.users.roles import handlers as roles
from netautod.webhooks import handlers as webhooks

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


def description(of_plugins: Iterable[Route] = ()) -> dict[str, Any]:
    """The OpenAPI description of all routes."""
    return openapi.document((*ROUTES, *of_plugins))
