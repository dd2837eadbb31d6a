"""The settings of the HTTP server and of its limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from netautod.core.net.host_names import LOCALHOST, HostNames, host_of, is_address, is_name, machine_names
from netautod.core.net.networks import cover_everything, is_this_machine
from netautod.core.settings.field import SettingsError, check_networks, setting
from netautod.core.settings.risks import RiskRule

EVERY_ORIGIN = "*"


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    RISKS: ClassVar[tuple[RiskRule["ServerSettings"], ...]] = (
        RiskRule(
            name="proxy-without-addresses",
            cause="`server.behind_proxy` without `server.trusted_proxies`: all clients have the proxy's "
            "address",
            text="all clients share the proxy's address: a client that guesses passwords locks out all",
            found=lambda one: _proxy_without_addresses(one),
            refused=True,
        ),
        RiskRule(
            name="trust-all-proxies",
            cause="`server.trusted_proxies` takes in every address: clients choose theirs",
            text="a client that sends X-Forwarded-For chooses its address, past lockout, limits and audit",
            found=lambda one: (
                ["server.trusted_proxies takes in every address"]
                if cover_everything(one.trusted_proxies)
                else ()
            ),
            refused=True,
        ),
        RiskRule(
            name="cors-all",
            cause="origins `*` (accepted, it lets in every origin) or `null` in `server.cors_origins`",
            text="a page of any site may call the API in the browser of every user who opens it",
            found=lambda one: [f"server.cors_origins: {o!r}" for o in one.cors_origins if _any_site(o)],
            refused=True,
        ),
        RiskRule(
            name="plain-http",
            cause="neither TLS nor `server.behind_proxy`, on another address than loopback",
            text="passwords and tokens cross the network in clear; set server.tls_certificate, or "
            "server.behind_proxy if a proxy ends TLS",
            found=lambda one: [f"server.host: {one.host}"] if _in_clear(one) else (),
        ),
        RiskRule(
            name="any-host",
            cause="no `server.hosts` for a service that listens on another address than loopback, or has "
            "`server.behind_proxy` without `server.trusted_proxies`",
            text="a page of any site can have its own name lead to this service, and read what it answers; "
            "list the names of the service in server.hosts",
            found=lambda one: ["server.hosts is empty"] if one.host_names(one.host).any_name else (),
        ),
    )

    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(8080, "TCP port; 0 picks a free one and the ready line names it.", low=0, high=65535)
    behind_proxy: bool = setting(False, "A TLS-terminating proxy stands in front (silences the warning).")
    instance_name: str = setting("netautod", "What clients show as the name of this installation.")
    trusted_proxies: tuple[str, ...] = setting(
        (), "Proxy addresses or networks whose X-Forwarded-For is believed."
    )
    hosts: tuple[str, ...] = setting(
        (),
        "Names by which the service is called; a request to another name is answered 421, one to an address"
        " never. Empty: localhost, the names of the machine and what trusted proxies send; beyond loopback"
        " any name.",
    )
    tls_certificate: str = setting("", "PEM file with the certificate chain; empty: plain HTTP.")
    tls_key: str = setting("", "PEM file with the private key of tls_certificate.", key_file=True)
    hsts_seconds: int = setting(
        0, "Seconds for which browsers use HTTPS only (Strict-Transport-Security); 0: not sent.", low=0
    )
    cors_origins: tuple[str, ...] = setting((), "Browser origins that may call the API.")
    header_timeout: float = setting(
        20.0,
        "Seconds from a request's first byte (or a new connection) to the end of its head.",
        low=0.1,
    )
    body_timeout: float = setting(
        30.0,
        "Seconds for a body to arrive; a large one may go on while it is fast enough (bytes_per_second).",
        low=0.1,
    )
    answer_timeout: float = setting(
        30.0, "Seconds for a client to take its answer; a large one as with body_timeout.", low=0.1
    )
    bytes_per_second: int = setting(
        4096, "Least speed of large bodies and answers; slower clients are disconnected.", low=1
    )
    idle_timeout: float = setting(60.0, "Seconds for the next request to begin on a connection.", low=0.1)
    drain_seconds: float = setting(30.0, "Seconds that running work may take to finish at a stop.", low=0)
    max_stall_seconds: float = setting(
        20.0,
        "A process whose event loop is held up for so long is killed and started again, two thirds of"
        " executions.lease_seconds at most; 0: never.",
        low=0,
    )

    uvloop: bool = setting(True, "Use the quicker event loop of uvloop where it is installed.")

    def check(self) -> None:
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise SettingsError("server.tls_certificate and server.tls_key go together")
        check_networks("server.trusted_proxies", self.trusted_proxies)
        for host in self.hosts:
            if not (is_name(host) or is_address(host)):
                raise SettingsError(f"server.hosts: {host!r} is not the name of a host (without a port)")

    @property
    def behind_unknown_proxy(self) -> bool:
        """Return whether there is a proxy whose headers are not believed."""
        return self.behind_proxy and not self.trusted_proxies

    def host_names(self, listening_on: str) -> HostNames:
        """Return the names of a listener at this address, which is `host` or that of the metrics."""
        if self.hosts:
            return HostNames(names=frozenset(map(host_of, self.hosts)))
        if not is_this_machine(listening_on) or self.behind_unknown_proxy:
            return HostNames.every()
        return HostNames(names=frozenset({LOCALHOST, *machine_names()}), any_of_proxies=True)


def _proxy_without_addresses(server: ServerSettings) -> Sequence[str]:
    alone = server.behind_unknown_proxy
    return ["server.behind_proxy without server.trusted_proxies"] if alone else ()


def _any_site(origin: str) -> bool:
    """Return whether any site can call from this origin: browsers send `null` for sandboxed frames, local
    files and redirects.
    """
    return EVERY_ORIGIN in origin or origin.strip().lower() == "null"


def _in_clear(server: ServerSettings) -> bool:
    return not (server.tls_certificate or server.behind_proxy or is_this_machine(server.host))


@dataclass(frozen=True, kw_only=True)
class LimitSettings:
    RISKS: ClassVar[tuple[RiskRule["LimitSettings"], ...]] = (
        RiskRule(
            name="no-request-limit",
            cause="no limit: `limits.requests_per_second = 0`",
            text="one client can keep a node so busy that no other is served",
            found=lambda one: _limits_at_zero(one),
        ),
    )

    connections: int = setting(
        2000,
        "Open client connections of a process; over that a new one takes the place of the one that has been"
        " silent longest at the address (IPv6: /64) that holds most.",
        low=1,
    )
    bodies_mib: int = setting(
        256,
        "MiB of request bodies that a process holds at once, arriving or in work; over that the largest one"
        " that is arriving for the caller who holds most is refused.",
        low=32,
    )
    long_answers: int = setting(
        100,
        "Answers of several parts that a process sends at once; over that the oldest one for the caller who"
        " takes most is cut off.",
        low=1,
    )
    requests_per_second: float = setting(300.0, "Requests per second and caller; 0: no limit.", low=0)
    burst: int = setting(1000, "Requests a caller may send at once before the rate applies.", low=1)
    anonymous_per_second: float = setting(
        100.0, "Requests without a valid token per second and address (IPv6: /64); 0: no limit.", low=0
    )
    anonymous_burst: int = setting(500, "Such requests at once before the rate applies.", low=1)


def _limits_at_zero(limits: LimitSettings) -> Sequence[str]:
    rates = {"requests": limits.requests_per_second, "anonymous": limits.anonymous_per_second}
    return [f"limits.{name}_per_second is 0" for name, rate in rates.items() if not rate]
