"""The page of permissions: what each allows and which roles hold it."""

from netautod.core.identity.permissions import DESCRIPTIONS, IMPLIED
from netautod.identity.users.models import BUILTIN_ROLES
from netautod.plugin_host.offers import offers
from tests.repository.generated.installation import plugins
from tests.repository.generated.markdown import code, page, prose, table


def permissions() -> str:
    return page(
        "Permissions",
        "Look up here what a permission allows and which role holds it. A role holds permissions, a user has "
        "roles, and an API token holds some of the permissions of its user. `*` is every permission, and "
        "`devices.*` is every one that begins with `devices.`; but an API token has to name `notes.read`. "
        "[Routes](routes.md) lists each route with the permission that it needs.",
        f"## What each allows\n\n{table(('Permission', 'Allows', 'Grants as well'), _meanings())}",
        f"## Built-in roles\n\n{table(('Role', 'What for', 'Permissions'), _roles())}",
    )


def _meanings() -> list[tuple[str, str, str]]:
    own = [
        (code(key), f"{prose(text)}.", ", ".join(map(code, IMPLIED.get(key, ()))))
        for key, text in DESCRIPTIONS.items()
    ]
    of_plugins = [
        (code(key), f"{prose(one.description)} (from a plugin)", "")
        for key, one in sorted(offers.permissions_of(plugins()).items())
    ]
    return [*own, *of_plugins]


def _roles() -> list[tuple[str, str, str]]:
    return [
        (code(role.name), f"{prose(role.description)}.", ", ".join(map(code, role.permissions)))
        for role in BUILTIN_ROLES
    ]
