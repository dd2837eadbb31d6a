"""The vouched state of a device: a user who may manage credentials decided where its secrets go.

A user who may only manage devices could otherwise send any password to a server of their own, by moving a
device there or by adding one that falls back to the organization's credential. So each write of one of the
fields of DESTINATION decides anew. Values that are sent back unchanged decide nothing, and neither do logins
and tests: no one vouches by accident. A right that is lost later takes nothing back.
"""

from collections.abc import Mapping
from typing import Any

from netautod.core.identity.caller import Caller
from netautod.network.devices.models import Device
from netautod.network.devices.records.queries import CREDENTIAL_FIELDS
from netautod.store.client import Document

MANAGE_CREDENTIALS = "credentials.manage"
VOUCHED = "vouched"
# The server that secrets go to, how they travel, and which ones they are.
DESTINATION = frozenset(
    {
        *("host", "port", "protocol", "jump_device_id", "automation_transport", "automation_port"),
        *CREDENTIAL_FIELDS,
    }
)


def may_vouch(caller: Caller) -> bool:
    return caller.can(MANAGE_CREDENTIALS)


def vouching_details(before: Device, after: Device) -> dict[str, bool]:
    """Return the details for the audit event of an edit; empty if the vouching is unchanged."""
    return {} if before.vouched == after.vouched else {VOUCHED: after.vouched}


def vouching_stage(changes: Mapping[str, Any], *, vouches: bool) -> Document:
    """Return a stage for an update that is about to write `changes`: the user who really moves a device
    decides about it.

    The decision is made in the update itself, since the device may have been edited after it was read: two
    edits at the same moment would otherwise leave the address of one vouched for by the other.
    """
    moves = [
        {"$ne": [f"${name}", {"$literal": changes[name]}]} for name in sorted(DESTINATION & changes.keys())
    ]
    return {"$set": {VOUCHED: {"$cond": [{"$or": moves}, vouches, {"$ifNull": [f"${VOUCHED}", False]}]}}}
