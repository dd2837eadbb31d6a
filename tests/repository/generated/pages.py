"""The generated pages by name, each with the function that returns its text."""

from collections.abc import Callable, Mapping

from tests.repository.generated import (
    access,
    command_line,
    events,
    hooks,
    observation,
    platform_tables,
    platforms,
    routes,
    settings,
)

COMMAND = ".venv/bin/python -m tests.repository.generated"
GENERATED: Mapping[str, Callable[[], str]] = {
    "extend/all-hooks": hooks.all_hooks,
    "extend/read-only-platforms": platform_tables.read_only_platforms,
    "operate/all-metrics": observation.all_metrics,
    "operate/all-settings": settings.all_settings,
    "operate/audit-actions": observation.audit_actions,
    "operate/command-line": command_line.command_line,
    "operate/risks": settings.risks,
    "use/events": events.events,
    "use/permissions": access.permissions,
    "use/platform-slugs": platform_tables.platform_slugs,
    "use/platforms": platforms.platforms,
    "use/routes": routes.routes,
}
