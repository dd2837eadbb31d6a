"""The section `[agent]` of the settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from netautod.plugin_api import (
    AddressRefused,
    RiskRule,
    SettingsError,
    is_this_machine,
    origin_of,
    setting,
)


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """The settings of agents.

    Without `base_url` no model is configured, and agent tasks fail with one sentence.
    """

    RISKS: ClassVar[tuple[RiskRule["AgentSettings"], ...]] = (
        RiskRule(
            name="agent-in-clear",
            cause="an `http://` address of another machine in `agent.base_url`",
            text="what agents read, and the key of the model, cross the network in clear",
            found=lambda one: [f"agent.base_url: {host}" for host in [_host_in_clear(one.base_url)] if host],
        ),
    )

    base_url: str = setting(
        "", "Where an OpenAI-compatible model is: requests go to <base_url>/chat/completions; empty: none."
    )
    model: str = setting("", "The name of the model, as its server knows it.")
    api_key: str = setting("", "The key that is sent to the model's server.", secret=True)
    api_key_file: str = setting("", "File with that key; instead of api_key.", key_file=True)
    ca_file: str = setting("", "PEM file of the only authorities to trust; empty: the system's.")
    timeout_seconds: float = setting(120.0, "Seconds for one answer of the model.", low=1, high=600)
    max_turns: int = setting(25, "Answers of the model in one run.", low=1, high=1000)
    max_tool_calls: int = setting(50, "Calls of tools in one run.", low=0, high=10_000)
    max_tokens: int = setting(200_000, "Tokens in one run, as the model counts them.", low=1000, high=10**9)
    max_devices: int = setting(50, "Devices that one run visits.", low=0, high=100_000)
    approve_own: bool = setting(
        False, "Whether who started a run, owns its task or set what it does may approve its changes."
    )

    @property
    def configured(self) -> bool:
        return bool(self.base_url)

    def check(self) -> None:
        """Raise SettingsError for wrong settings. Without base_url the section may be incomplete."""
        if not self.base_url:
            return
        try:
            origin_of(self.base_url)
        except AddressRefused as error:
            raise SettingsError(f"agent.base_url: {error.text}") from error
        if urlsplit(self.base_url).query or urlsplit(self.base_url).fragment:
            raise SettingsError("agent.base_url: it must end with its path")
        if not self.model:
            raise SettingsError("agent.model: it is needed with base_url")
        if self.api_key and self.api_key_file:
            raise SettingsError("agent.api_key and agent.api_key_file exclude each other")
        if not (self.key().isascii() and self.key().isprintable()):
            raise SettingsError("agent.api_key: it must be printable ASCII")

    def key(self) -> str:
        """Return the key of the model's server, empty for none. Raises SettingsError for a file that cannot
        be read.
        """
        if not self.api_key_file:
            return self.api_key.strip()
        try:
            return Path(self.api_key_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise SettingsError(f"agent.api_key_file: {reason}") from error


def _host_in_clear(url: str) -> str:
    """Return the server of a URL without TLS to another machine; else nothing."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return host if parts.scheme == "http" and not is_this_machine(host) else ""
