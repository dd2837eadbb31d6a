"""The settings of the HTTP server and of its request limit."""

from dataclasses import dataclass

from netautod.core.settings.field import SettingsError, check_networks, setting


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(8080, "TCP port; 0 picks a free one and the ready line names it.", low=0, high=65535)
    behind_proxy: bool = setting(False, "A TLS-terminating proxy stands in front (silences the warning).")
    instance_name: str = setting("netautod", "What clients show as the name of this installation.")
    trusted_proxies: tuple[str, ...] = setting(
        (), "Proxy addresses or networks whose X-Forwarded-For is believed."
    )
    tls_certificate: str = setting("", "PEM file with the certificate chain; empty: plain HTTP.")
    tls_key: str = setting("", "PEM file with the private key of tls_certificate.")
    cors_origins: tuple[str, ...] = setting((), "Browser origins that may call the API.")
    max_connections: int = setting(2000, "Open client connections at most; more are closed at once.", low=1)
    body_timeout: float = setting(30.0, "Seconds for a request's body to arrive.", low=0.1)
    idle_timeout: float = setting(60.0, "Seconds for the next request and its headers to arrive.", low=0.1)
    drain_seconds: float = setting(30.0, "Seconds that running work may take to finish at a stop.", low=0)

    def check(self) -> None:
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise SettingsError("server.tls_certificate and server.tls_key go together")
        check_networks("server.trusted_proxies", self.trusted_proxies)


@dataclass(frozen=True, kw_only=True)
class LimitSettings:
    requests_per_second: float = setting(100.0, "Requests per second and caller; 0: no limit.", low=0)
    burst: int = setting(200, "Requests a caller may send at once before the rate applies.", low=1)
