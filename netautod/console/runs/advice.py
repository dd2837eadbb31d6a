"""The advice for each kind of failure of a device: one sentence, and the one place to go to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from netautod.automation.executions.records.result_store import UNKNOWN_KIND

Name = Literal["test", "edit", "host_key", "vouch", "credentials", "log", "nowhere"]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place where something can be done: the button that leads there, and the permission for it.

    `path` may name `{execution_id}` and `{device_id}`; `posts`: the button belongs to a form.
    """

    button: str
    path: str
    permission: str
    posts: bool = False


PLACES: Mapping[Name, Place] = {
    "test": Place(button="Test", path="/devices/{device_id}/test", permission="devices.access", posts=True),
    "edit": Place(button="Edit device", path="/devices/{device_id}/edit", permission="devices.manage"),
    "host_key": Place(button="Host key", path="/devices/{device_id}#host-key", permission="devices.access"),
    "vouch": Place(button="Vouch", path="/devices/{device_id}", permission="credentials.manage"),
    "credentials": Place(button="Credentials", path="/credentials", permission="credentials.manage"),
    "log": Place(
        button="Log",
        path="/executions/{execution_id}?device_id={device_id}#log-head",
        permission="tasks.operate",
    ),
    "nowhere": Place(button="", path="", permission="tasks.operate"),
}


@dataclass(frozen=True, kw_only=True)
class Advice:
    text: str
    place: Place

    def address(self, execution_id: str, device_id: str) -> str:
        return self.place.path.format(execution_id=execution_id, device_id=device_id)


def _advice(place: Name, text: str) -> Advice:
    return Advice(text=text, place=PLACES[place])


OTHER = _advice("log", "The executor named no kind of failure: read the error and the log.")
ADVICE: Mapping[str, Advice] = {
    "dns": _advice("test", "The name of the host does not resolve: check its address, then test it."),
    "refused": _advice(
        "test", "Nothing accepts the connection: check its address, its port and that SSH is on."
    ),
    "timeout": _advice("test", "The device took too long: check the path to it and its load, then test it."),
    "kex": _advice("edit", "No common SSH algorithm: choose an older SSH profile for the device."),
    "host_key": _advice(
        "host_key",
        "The device shows another host key: compare the fingerprints before you approve it.",
    ),
    "auth": _advice(
        "credentials",
        "The login was refused, a repeat may lock the account: correct the credential first.",
    ),
    "enable": _advice("credentials", "The enable secret is missing or refused: correct the credential."),
    "prompt": _advice("test", "No prompt came, or the device asks a question: log in and answer it."),
    "pager": _advice("edit", "The pager of the device is still on: check its device type."),
    "incomplete": _advice("test", "The configuration stopped before its end: test the device, then retry."),
    "refused_command": _advice(
        "edit", "The device does not know the command: check its device type and the rights of the login."
    ),
    "lost": _advice("test", "The connection dropped in the middle: test the device, then retry."),
    "flood": _advice("edit", "There was more output than the limit: check its device type."),
    "not_found": _advice("nowhere", "The device was deleted meanwhile: there is nothing to do."),
    "credential": _advice(
        "credentials", "No credential may be used: assign one to the device, or a default."
    ),
    "suspended": _advice(
        "credentials", "The credential is suspended after refused logins: change it to end the suspension."
    ),
    "address": _advice("edit", "The service may not connect to this address: correct it."),
    "not_vouched": _advice(
        "vouch", "The credential is not sent before a user vouches for the address of the device."
    ),
    "busy": _advice("test", "Another session was open on the device: retry when it has ended."),
    UNKNOWN_KIND: OTHER,
}


def advice_on(kind: str | None) -> Advice:
    """Return the advice; a kind that only an executor of a plugin knows gets the general one."""
    return ADVICE.get(kind or UNKNOWN_KIND, OTHER)
