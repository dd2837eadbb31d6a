"""The servers, TLS and login in a MongoDB connection string. Pure: no name is looked up.

The form and the options: https://www.mongodb.com/docs/manual/reference/connection-string/ and
https://www.mongodb.com/docs/manual/reference/connection-string-options/ .
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from netautod.core.net.networks import is_this_machine

SRV = "mongodb+srv"
FORM = re.compile(r"(?P<scheme>[a-z+]+)://(?:(?P<user>.*)@)?(?P<hosts>[^/?]*)/?[^?]*(?:\?(?P<options>.*))?")
# With one of these set to true the driver encrypts, but does not check who answers.
UNVERIFIED = ("tlsinsecure", "tlsallowinvalidcertificates", "tlsallowinvalidhostnames")


@dataclass(frozen=True, kw_only=True)
class MongoUri:
    """A parsed connection string. `elsewhere` are the servers that are not on this machine, without their
    ports.
    """

    elsewhere: tuple[str, ...]
    verified_tls: bool
    login: bool

    @classmethod
    def parse(cls, uri: str) -> "MongoUri":
        """Parse any text: one that is no connection string names no server."""
        found = FORM.fullmatch(uri)
        if found is None:
            return cls(elsewhere=(), verified_tls=False, login=False)
        srv = found["scheme"] == SRV
        options = _options(found["options"] or "")
        hosts = [_host(text) for text in found["hosts"].split(",") if text]
        return cls(
            # The servers behind an SRV record are not known here: they count as elsewhere.
            elsewhere=tuple(host for host in hosts if srv or not _local(host)),
            verified_tls=_verified(options, srv),
            login=bool(found["user"]) or "authmechanism" in options,
        )


def _options(text: str) -> Mapping[str, str]:
    pairs = (pair.partition("=") for pair in re.split("[&;]", text) if pair)
    return {name.lower(): unquote(value).lower() for name, _, value in pairs}


def _verified(options: Mapping[str, str], srv: bool) -> bool:
    encrypted = options.get("tls", options.get("ssl", "true" if srv else "false")) == "true"
    careless = any(options.get(name) == "true" for name in UNVERIFIED)
    return encrypted and not careless and options.get("ssl_cert_reqs", "cert_required") == "cert_required"


def _host(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text if text.count(":") > 1 else text.partition(":")[0]


def _local(host: str) -> bool:
    """Return whether a host is this machine. A unix socket is written with %2F for its slashes."""
    return unquote(host).startswith("/") or is_this_machine(host)
