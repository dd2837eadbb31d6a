"""The state in the directory of a user who logged in earlier: present, disabled, or gone.

Only an answer of the directory ends a session. An empty answer means nothing if the service may not read
users (servers hide what a client may not see as if it were not there, RFC 4511 4.5.1 and X.511), so that it
counts only if the same search finds another user.
"""

import re
import uuid
from datetime import UTC, datetime

from netautod.plugin_api import AccountEnded, KnownUser, Lookup, ProviderUnavailable
from netautod_ldap.disabled import ATTRIBUTES, why_disabled
from netautod_ldap.groups import ANYTHING
from netautod_ldap.lookup import OBJECT_GUID, identity_of
from netautod_ldap.session import Entry, Session
from netautod_ldap.settings import LdapSettings
from netautod_ldap.templates import filled_filter

NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*=|[0-9]+(\.[0-9]+)*=")


def look_up(session: Session, settings: LdapSettings, user: KnownUser) -> Lookup:
    """Look the user up.

    Raises AccountEnded for a user who is gone or disabled, ProviderUnavailable if the directory does not say.
    """
    if not settings.users_dn:
        raise ProviderUnavailable("ldap.base_dn does not say where users are")
    with session:
        session.bind_as_service()
        entry = _found(session, settings, user)
        if entry is None:
            _require_sight(session, settings)
            raise AccountEnded("the directory does not have the user any more")
        reason = why_disabled(entry, datetime.now(UTC))
        if reason is not None:
            raise AccountEnded(reason)
        _require_admission(session, settings, entry)
        return Lookup(identity=identity_of(session, settings, entry, user.username))


def _found(session: Session, settings: LdapSettings, user: KnownUser) -> Entry | None:
    """Find the entry by the lasting id, so that a new name or place makes no difference."""
    attributes = [*settings.user_attributes, *ATTRIBUTES]
    if user.external_id is not None and NAME.match(user.external_id):
        entries = session.search_whole(user.external_id, ANYTHING, attributes, entry_alone=True)
    else:
        entries = session.search_whole(settings.users_dn, _filter(settings, user), attributes)
    if len(entries) > 1:
        raise ProviderUnavailable("the directory has more than one entry for a user")
    return entries[0] if entries else None


def _filter(settings: LdapSettings, user: KnownUser) -> str:
    if user.external_id is None:
        return filled_filter(settings.user_filter, {"username": user.username})
    if not settings.id_attribute:
        raise ProviderUnavailable("users are known by an id, and ldap.id_attribute is empty")
    if settings.id_attribute.lower() == OBJECT_GUID:
        try:
            guid = uuid.UUID(user.external_id).bytes_le
        except ValueError as error:
            raise ProviderUnavailable("the id of the user is no objectGUID") from error
        value = "".join(f"\\{byte:02x}" for byte in guid)
        return f"({settings.id_attribute}={value})"
    return f"({settings.id_attribute}={filled_filter('{username}', {'username': user.external_id})})"


def _require_sight(session: Session, settings: LdapSettings) -> None:
    """Raise ProviderUnavailable unless the service sees at least one user."""
    any_user = settings.user_filter.replace("{username}", "*")
    if not session.search(settings.users_dn, any_user, ["1.1"], limit=1):
        raise ProviderUnavailable(f"no user is found below {settings.users_dn!r}: may the service read it?")


def _require_admission(session: Session, settings: LdapSettings, entry: Entry) -> None:
    """Raise AccountEnded for an entry that could not log in by the filters of the settings."""
    names = entry.texts(settings.username_attribute)
    if not names:
        raise ProviderUnavailable(f"the attribute {settings.username_attribute} of a user cannot be read")
    filters = [filled_filter(settings.user_filter, {"username": name, "dn": entry.dn}) for name in names]
    if not any(_matches(session, entry, filter) for filter in filters):
        _require_sight(session, settings)
        raise AccountEnded("ldap.user_filter does not match the user any more")
    if settings.disabled_filter and _matches(session, entry, settings.disabled_filter):
        raise AccountEnded("ldap.disabled_filter matches the user")


def _matches(session: Session, entry: Entry, filter: str) -> bool:
    return bool(session.search_whole(entry.dn, filter, ["1.1"], entry_alone=True))
