"""The page of events: those of the stream and those of webhooks."""

from netautod.activity.events.models import KINDS
from netautod.activity.webhooks.names import DESCRIPTIONS
from netautod.core.identity.permissions import PermissionKeys
from netautod.plugin_host.offers import offers
from tests.repository.generated.installation import plugins
from tests.repository.generated.markdown import code, page, prose, table


def events() -> str:
    keys = PermissionKeys()
    keys.add({key: one.description for key, one in offers.permissions_of(plugins()).items()})
    of_plugins = sorted(offers.events_of(plugins(), keys).items())
    stream = [(code(kind.name), code(kind.permission or ""), prose(kind.data)) for kind in KINDS]
    stream += [
        (code(name), code(one.permission or ""), f"{prose(one.description)} (from a plugin)")
        for name, one in of_plugins
    ]
    hooks = [(code(name), prose(text)) for name, text in DESCRIPTIONS.items()]
    hooks += [(code(name), f"{prose(one.description)} (from a plugin)") for name, one in of_plugins]
    return page(
        "Events",
        "Look up an event here. [Events and webhooks](events-and-webhooks.md) says how to listen to the "
        "stream "
        "and how to receive a webhook.",
        "## Events of the stream\n\n`GET /api/events` sends these. A listener gets those for which it has "
        "the "
        f"permission.\n\n{table(('Event', 'Permission', 'Data'), stream)}",
        "## Events of webhooks\n\nThese are the names for the field `events` of a webhook. A plugin's "
        "event is "
        f"called `PLUGIN.NAME`.\n\n{table(('Event', 'What has happened'), hooks)}",
    )
