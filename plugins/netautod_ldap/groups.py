"""The groups of an entry, or the reason why the directory does not tell them all.

Servers hide what a client may not see as if it were not there (RFC 4511 4.5.1), and cut what is too long. A
user without groups is one whose groups could be read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod_ldap.session import Entry, IncompleteAnswer, Session
from netautod_ldap.settings import LdapSettings
from netautod_ldap.templates import filled_filter

ANYTHING = "(objectClass=*)"


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The names of groups; `unknown` is the reason why there may be more."""

    names: tuple[str, ...] = ()
    unknown: str | None = None


def groups_of(session: Session, settings: LdapSettings, entry: Entry, username: str) -> Groups:
    """Read the groups from the user's attribute and below the base of groups, as far as these are set."""
    attribute, base = settings.group_attribute, settings.group_base_dn
    names, unknown = entry.texts(attribute), None
    if _is_cut(entry, attribute):
        unknown = f"the directory returns only a part of {attribute}"
    elif attribute and not names and not base and not _is_readable(session, settings):
        unknown = f"the directory shows {attribute} of no user"
    if base:
        try:
            found = _below(session, settings, entry, username)
        except IncompleteAnswer as error:
            found, unknown = error.entries, str(error)
        names += [group.dn for group in found]
        if not found and unknown is None and not session.search(base, ANYTHING, ["1.1"], limit=2)[1:]:
            unknown = f"the directory shows no group below {base!r}"  # the base itself at most
    return Groups(names=tuple(dict.fromkeys(names)), unknown=unknown)


def _is_cut(entry: Entry, attribute: str) -> bool:
    """Return whether there are more values than were sent: `memberOf;range=0-1499`.

    Source: [MS-ADTS] 3.1.1.3.1.3.3, range retrieval of attribute values.
    """
    start = f"{attribute.lower()};range="
    ranges = [name for name in entry.attributes if name.lower().startswith(start)] if attribute else []
    return any(not name.endswith("-*") for name in ranges)


def _is_readable(session: Session, settings: LdapSettings) -> bool:
    """Return whether the attribute of any user can be read; so it is where nothing says where users are."""
    if not settings.users_dn:
        return True
    return bool(session.search(settings.users_dn, f"({settings.group_attribute}=*)", ["1.1"], limit=1))


def _below(session: Session, settings: LdapSettings, entry: Entry, username: str) -> Sequence[Entry]:
    filter = filled_filter(settings.group_filter, {"dn": entry.dn, "username": username})
    # 1.1: no attributes, the names alone (RFC 4511 4.5.1.8).
    return session.search_whole(settings.group_base_dn, filter, ["1.1"])
