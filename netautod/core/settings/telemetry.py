"""The settings of traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar
from urllib.parse import urlsplit

from netautod.core.net.networks import is_this_machine
from netautod.core.settings.field import SettingsError, setting
from netautod.core.settings.risks import RiskRule

NEEDED = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter")
TRACES = "/v1/traces"
MISSING = (
    "telemetry.otlp_endpoint is set, but OpenTelemetry is not installed: pip install 'netautod[telemetry]'"
)


@dataclass(frozen=True, kw_only=True)
class TelemetrySettings:
    RISKS: ClassVar[tuple[RiskRule["TelemetrySettings"], ...]] = (
        RiskRule(
            name="traces-in-clear",
            cause="an `http://` address of another machine in `telemetry.otlp_endpoint`",
            text="an attacker on the network reads who does what here, and on which device",
            found=lambda one: _in_clear(one),
        ),
    )

    otlp_endpoint: str = setting(
        "", "Collector of OpenTelemetry (OTLP over HTTP), such as http://127.0.0.1:4318; empty: no traces."
    )

    def check(self) -> None:
        """Check the endpoint. Whether OpenTelemetry is installed is checked by `require_installed`."""
        if not self.otlp_endpoint:
            return
        key = "telemetry.otlp_endpoint"
        try:
            parts = urlsplit(self.otlp_endpoint)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise SettingsError(f"{key} must be a URL such as http://127.0.0.1:4318")
        if parts.username is not None or parts.password is not None:
            raise SettingsError(f"{key} must hold no login: OTEL_EXPORTER_OTLP_HEADERS has headers")
        if parts.query or parts.fragment:
            raise SettingsError(f"{key} must end with its path")
        if parts.path.rstrip("/").endswith(TRACES):
            raise SettingsError(f"{key} must be the collector's address: {TRACES} is added to it")

    @property
    def traces_url(self) -> str:
        """Return the URL for traces: `/v1/traces` below the endpoint (OTLP 1.x, "OTLP/HTTP Request")."""
        return f"{self.otlp_endpoint.rstrip('/')}{TRACES}"

    def require_installed(self) -> None:
        """Raise SettingsError if traces are wanted and OpenTelemetry is missing. Without them nothing is
        imported.
        """
        if self.otlp_endpoint and not all(map(_installed, NEEDED)):
            raise SettingsError(MISSING)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def _in_clear(telemetry: TelemetrySettings) -> Sequence[str]:
    if not telemetry.otlp_endpoint:
        return ()
    parts = urlsplit(telemetry.otlp_endpoint)
    clear = parts.scheme == "http" and not is_this_machine(parts.hostname or "")
    return [f"telemetry.otlp_endpoint: {telemetry.otlp_endpoint}"] if clear else ()
