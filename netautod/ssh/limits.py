"""The limits of a session: how long each stage may take and how much a command may print."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Times in seconds, sizes in bytes.

    `quiet_seconds` is how long a device must say nothing before a line without a prompt is taken for a
    question (or for log lines after the prompt); a slow device stays silent for less in the middle of a line.
    """

    login_seconds: float = 15.0
    prompt_seconds: float = 15.0
    command_seconds: float = 60.0
    capture_seconds: float = 300.0
    quiet_seconds: float = 1.0
    output_bytes: int = 8 * MIB
