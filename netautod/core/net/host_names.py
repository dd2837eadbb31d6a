"""The names that a service is called by, and those of this machine."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

LOCALHOST = "localhost"
# Labels of letters, digits, hyphens and, as container networks have them, underscores (RFC 1123 2.1).
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_PORT = re.compile(r":[0-9]*\Z")


@dataclass(frozen=True, kw_only=True)
class HostNames:
    """The names that requests may call a service by, in lower case.

    `any_name`: whatever they say; `any_of_proxies`: whatever those of trusted proxies say.
    """

    names: frozenset[str] = frozenset()
    any_name: bool = False
    any_of_proxies: bool = False

    @classmethod
    def every(cls) -> Self:
        return cls(any_name=True)

    def include(self, authority: str) -> bool:
        """Return whether a host with or without its port is one of the names, or an address."""
        host = host_of(authority)
        return self.any_name or host in self.names or is_address(host)


def host_of(authority: str) -> str:
    """Return the host of `NAME:PORT` in lower case, without the dot that ends a complete name."""
    return _PORT.sub("", authority).lower().removesuffix(".")


def is_address(host: str) -> bool:
    """Return whether the host is an address: 192.0.2.1, or [2001:db8::1]."""
    try:
        ipaddress.ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    except ValueError:
        return False
    return True


def is_name(text: str) -> bool:
    """Return whether the text can be the name of a host, without a port."""
    return _NAME.fullmatch(text.lower().removesuffix(".")) is not None


@cache
def machine_names() -> frozenset[str]:
    """Return the machine's name, with and without its domain, and its aliases.

    They come from files alone: a name server that does not answer would hold up the start.
    """
    return names_in(socket.gethostname(), _text("/etc/hosts"), _text("/etc/resolv.conf"))


def names_in(hostname: str, hosts: str, resolver: str) -> frozenset[str]:
    """Return the names of the machine `hostname` by its hosts(5) and its resolv.conf(5)."""
    name = host_of(hostname)
    short = name.partition(".")[0]
    found = {name, short}
    for words in _words(hosts):
        aliases = {host_of(word) for word in words[1:]}
        found |= aliases if aliases & {name, short} else set()
    for words in _words(resolver):
        if words[0] in ("search", "domain"):
            found |= {f"{short}.{host_of(domain)}" for domain in words[1:]}
    return frozenset(one for one in found if is_name(one))


def _words(text: str) -> list[list[str]]:
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [words for words in lines if words]


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
