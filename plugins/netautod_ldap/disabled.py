"""The attributes of an entry that mark its user as disabled, in the directories that have them.

A lock after wrong passwords that ends by itself is none of these: strangers can cause it.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from netautod_ldap.session import Entry

ACCOUNTDISABLE = 0x2
NEVER = (0, 0x7FFFFFFFFFFFFFFF)
LOCKED_FOR_GOOD = "000001010000Z"
FILETIME_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Says = Callable[[str, datetime], bool]


def why_disabled(entry: Entry, now: datetime) -> str | None:
    """Return a sentence that names the attribute; None for a user who is not disabled."""
    for name, says in MARKS.items():
        for text in entry.texts(name):
            try:
                disabled = says(text.strip(), now)
            except (ValueError, OverflowError):  # no number or time: it says nothing
                continue
            if disabled:
                return f"the user is disabled in the directory by {name}"
    return None


def _account_control(text: str, now: datetime) -> bool:
    return bool(int(text) & ACCOUNTDISABLE)


def _filetime(text: str, now: datetime) -> bool:
    """Return whether the time in units of 100 nanoseconds since 1601 is over."""
    ticks = int(text)
    return ticks not in NEVER and FILETIME_EPOCH + timedelta(microseconds=ticks // 10) <= now


def _true(text: str, now: datetime) -> bool:
    return text.lower() == "true"


def _locked_for_good(text: str, now: datetime) -> bool:
    return text == LOCKED_FOR_GOOD


def _days(text: str, now: datetime) -> bool:
    """Return whether the day is over. 0 has no clear meaning (shadow(5)), and -1 is no expiry."""
    days = int(text)
    return days > 0 and UNIX_EPOCH + timedelta(days=days) <= now


def _past(text: str, now: datetime) -> bool:
    """Return whether a GeneralizedTime in UTC is over, in the form that servers store (RFC 4517 3.3.13)."""
    return datetime.strptime(text[:14] + text[-1], "%Y%m%d%H%M%SZ").replace(tzinfo=UTC) <= now


MARKS: Mapping[str, Says] = {
    # Active Directory: [MS-ADTS] 2.2.16 and https://learn.microsoft.com/windows/win32/adschema/a-accountexpires
    "userAccountControl": _account_control,
    "accountExpires": _filetime,
    # 389 Directory Server, FreeIPA: accounts that were inactivated
    "nsAccountLock": _true,
    # OpenLDAP's ppolicy: draft-behera-ldap-password-policy-10, 5.3.3 (a real time there is a passing lock)
    "pwdAccountLockedTime": _locked_for_good,
    "pwdEndTime": _past,
    # RFC 2307 2.2 and shadow(5)
    "shadowExpire": _days,
    # eDirectory
    "loginDisabled": _true,
    # MIT Kerberos, FreeIPA
    "krbPrincipalExpiration": _past,
}
ATTRIBUTES = tuple(MARKS)
