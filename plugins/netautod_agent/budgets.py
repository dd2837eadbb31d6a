"""The limits of a run: turns, calls of tools, tokens, devices. The transcript says what is used."""

from collections.abc import Sequence
from typing import Any

from netautod.plugin_api import PermanentFailure, TranscriptEvent
from netautod_agent.settings import AgentSettings


class BudgetSpent(PermanentFailure):
    """Raised when a limit is reached; the run ends, because a retry would cost more than what was allowed."""


class Budgets:
    """The limits of a run and what it has used.

    What the transcript holds is used, whichever attempt wrote it.
    """

    def __init__(self, settings: AgentSettings, events: Sequence[TranscriptEvent]) -> None:
        self._settings = settings
        self._turns = self._tool_calls = self._input_tokens = self._output_tokens = 0
        self._devices: set[str] = set()
        for event in events:
            self.count(event)

    def count(self, event: TranscriptEvent) -> None:
        self._turns += event.role == "assistant"
        self._tool_calls += event.role == "tool"
        self._input_tokens += event.input_tokens or 0
        self._output_tokens += event.output_tokens or 0
        self._devices.update(event.device_ids)

    def before_turn(self) -> None:
        """Raise BudgetSpent if the model may not be called once more."""
        self._within("turns", self._turns + 1, self._settings.max_turns)
        self._within("tokens", self._input_tokens + self._output_tokens + 1, self._settings.max_tokens)

    def before_call(self) -> None:
        self._within("tool calls", self._tool_calls + 1, self._settings.max_tool_calls)

    def admit(self, device_id: str) -> None:
        """Count a device before it is visited. Raises BudgetSpent if it is one too many."""
        self._within("devices", len(self._devices | {device_id}), self._settings.max_devices)
        self._devices.add(device_id)

    def to_json(self) -> dict[str, Any]:
        return {
            "turns": self._turns,
            "tool_calls": self._tool_calls,
            "input_tokens": self._input_tokens,
            "output_tokens": self._output_tokens,
            "total_tokens": self._input_tokens + self._output_tokens,
            "devices": len(self._devices),
        }

    @staticmethod
    def _within(what: str, used: int, allowed: int) -> None:
        if used > allowed:
            raise BudgetSpent(f"the budget of {allowed} {what} is used up")
