"""A login against the directory: find the entry, bind with the password, read the user's attributes."""

import logging
import secrets
import uuid

from netautod.plugin_api import Identity, ProbeResult
from netautod_ldap.groups import groups_of
from netautod_ldap.session import Entry, Session
from netautod_ldap.settings import LdapSettings
from netautod_ldap.templates import filled_dn, filled_filter

logger = logging.getLogger(__name__)
OBJECT_GUID = "objectguid"


def login(session: Session, settings: LdapSettings, username: str, password: str) -> Identity | None:
    """Return the user's identity; None for wrong credentials, and for a name that finds no entry or
    several."""
    with session:
        entry = _proven(session, settings, username, password)
        if entry is None:
            return None
        return identity_of(session, settings, entry, username)


def probe(
    session: Session, settings: LdapSettings, username: str | None, password: str | None
) -> ProbeResult:
    """Run the steps of a login and explain them to an administrator. Raises ProviderUnavailable with the
    reason.
    """
    with session:
        server = str(session.server)
        if username is None:
            if not settings.user_dn:
                session.bind_as_service()
            return ProbeResult(success=True, message=f"Connected to {server} and logged in as configured")
        if password is not None:
            entry = _proven(session, settings, username, password)
            if entry is None:
                return ProbeResult(success=False, message="No such user, or the password is wrong")
            return _described(entry, settings, identity_of(session, settings, entry, username))
        if settings.user_dn:
            return ProbeResult(success=False, message="With ldap.user_dn a user's password is needed too")
        session.bind_as_service()
        entry = _found(session, settings, username)
        if entry is None:
            return ProbeResult(success=False, message="The filter finds no entry, or more than one")
        names = entry.texts(settings.username_attribute)
        if not names:
            return _nameless(f"Found {entry.dn}", settings)
        return ProbeResult(success=True, message=f"Found {entry.dn}", username=_own_name(names, username))


def _described(entry: Entry, settings: LdapSettings, identity: Identity | None) -> ProbeResult:
    right = f"The password of {entry.dn} is right"
    if identity is None:
        return _nameless(right, settings)
    groups = f"{len(identity.groups)} groups were found"
    if identity.groups_unknown is not None:
        groups = f"the groups are unknown, {identity.groups_unknown}"
    return ProbeResult(success=True, message=f"{right}; {groups}", username=identity.username)


def _nameless(found: str, settings: LdapSettings) -> ProbeResult:
    missing = f"the entry has no attribute {settings.username_attribute} (ldap.username_attribute)"
    return ProbeResult(success=False, message=f"{found}, but {missing}")


def _own_name(names: list[str], typed: str) -> str:
    """Return the name that was typed, if it is one of the entry's, else the first."""
    return next((name for name in names if name.casefold() == typed.casefold()), names[0])


def _proven(session: Session, settings: LdapSettings, username: str, password: str) -> Entry | None:
    """Return the user's entry after a bind with the user's password; then the connection may read groups."""
    if settings.user_dn:
        dn = filled_dn(settings.user_dn, {"username": username})
        return session.read(dn, settings.user_attributes) if session.bind_as_user(dn, password) else None
    session.bind_as_service()
    entry = _found(session, settings, username)
    # An unknown name gets a bind too, so that it takes as many steps.
    dn = entry.dn if entry is not None else f"cn={secrets.token_hex(8)},{settings.base_dn}"
    if not session.bind_as_user(dn, password) or entry is None:
        return None
    session.bind_as_service()
    return entry


def _found(session: Session, settings: LdapSettings, username: str) -> Entry | None:
    filter = filled_filter(settings.user_filter, {"username": username})
    entries = session.search(settings.base_dn, filter, settings.user_attributes, limit=2)
    if len(entries) > 1:
        logger.warning("the LDAP filter finds more than one entry for a name: the login is refused")
    # An entry without a name is the root of the directory: a bind with it would be anonymous.
    return entries[0] if len(entries) == 1 and entries[0].dn else None


def identity_of(session: Session, settings: LdapSettings, entry: Entry, typed: str) -> Identity | None:
    """Return the identity of an entry; None if it has no username."""
    names = entry.texts(settings.username_attribute)
    if not names:
        logger.warning("the entry has no attribute %s: the login is refused", settings.username_attribute)
        return None
    username = _own_name(names, typed)
    groups = groups_of(session, settings, entry, username)
    return Identity(
        username=username,
        external_ids=_ids(settings, entry),
        email=next(iter(entry.texts(settings.email_attribute)), None),
        display_name=next(iter(entry.texts(settings.name_attribute)), None),
        groups=groups.names,
        other_usernames=tuple(names),
        groups_unknown=groups.unknown,
    )


def _ids(settings: LdapSettings, entry: Entry) -> tuple[str, ...]:
    """Return the lasting id, if the entry has it, and the DN."""
    name = settings.id_attribute
    values = entry.attributes.get(name, ()) if name else ()
    if name.lower() == OBJECT_GUID and len(values) == 1 and len(values[0]) == 16:
        # [MS-ADTS] 3.1.1.1.3: a GUID in its binary form, the first three parts little-endian.
        return str(uuid.UUID(bytes_le=bytes(values[0]))), entry.dn
    texts = entry.texts(name)
    return (texts[0], entry.dn) if len(texts) == 1 and texts[0] else (entry.dn,)
