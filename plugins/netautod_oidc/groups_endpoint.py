"""The groups of a user from the address in the settings, for tokens that leave them out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from netautod.plugin_api import LoginRefused, ProviderUnavailable
from netautod_oidc.discovery import Discovery
from netautod_oidc.groups import Groups, claim_at, parsed
from netautod_oidc.settings import OidcSettings
from netautod_oidc.token_endpoint import json_value


async def read_groups(settings: OidcSettings, discovery: Discovery, access_token: str) -> Groups:
    """Read the groups with the user's access token; the reason says what went wrong."""
    name = f"{settings.NAME}.groups_endpoint"
    try:
        headers = {"Authorization": f"Bearer {access_token}"}
        answer = await discovery.request(settings.groups_endpoint, headers=headers)
        if answer.status != 200:
            return Groups(unknown=f"{name} answered with status {answer.status}")
        return _groups_in(json_value(answer), settings.roles_claim, name)
    except (ProviderUnavailable, LoginRefused) as error:
        return Groups(unknown=f"{name}: {error}")


def _groups_in(document: Any, claim: str, name: str) -> Groups:
    """Return the groups of a list, of an object with the claim, or of a page of Microsoft Graph."""
    if not isinstance(document, dict):
        return parsed(document, name)
    if isinstance(document.get("value"), list):
        return _of_page(document, name)
    return parsed(claim_at(document, claim), name)


def _of_page(page: Mapping[str, Any], name: str) -> Groups:
    """Return the ids of `{"value": [{"id": ...}], "@odata.nextLink": ...}`; with a link there are more.

    Source: https://learn.microsoft.com/graph/api/user-list-transitivememberof
    """
    ids = [entry.get("id") if isinstance(entry, dict) else entry for entry in page["value"]]
    groups = parsed(ids, name)
    if groups.unknown is None and "@odata.nextLink" in page:
        return replace(groups, unknown=f"{name} has more than one page")
    return groups
