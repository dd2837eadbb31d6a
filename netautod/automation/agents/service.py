"""Questions of people about agents: what they did, how far they are, which commands they may run."""

from collections.abc import Sequence
from typing import Any

from netautod.automation.agents.models import Usage
from netautod.automation.agents.store import TranscriptStore
from netautod.core.identity.caller import OrgId
from netautod.network.configs.texts.tokens import without_tokens_within
from netautod.plugin_api import ModelBackend
from netautod.transport.ssh.platform.registry import PlatformRegistry


class AgentService:
    def __init__(
        self, *, transcripts: TranscriptStore, platforms: PlatformRegistry, model: ModelBackend | None
    ) -> None:
        self._transcripts = transcripts
        self._platforms = platforms
        self._model = model

    @property
    def has_model(self) -> bool:
        return self._model is not None

    def check(self, platform: str, command: str) -> dict[str, Any]:
        """Return whether an agent may run the command on devices of that type: `{allowed, reason,
        canonical}`.
        """
        verdict = self._platforms.get(platform).read_only.check(command)
        return {
            "allowed": verdict.command is not None,
            "reason": verdict.reason,
            "canonical": verdict.command,
        }

    async def transcript(self, org_id: OrgId, execution_id: str) -> list[dict[str, Any]]:
        """Return the events without tokens of secrets; where there were any, without the hashes, too: those
        would tell whether a guessed token is the right one.
        """
        events = [one.to_json() for one in await self._transcripts.read(org_id, execution_id)]
        shown = [without_tokens_within(event) for event in events]
        if shown == events:
            return events
        return [{name: value for name, value in event.items() if name != "hash"} for event in shown]

    async def usages(self, org_id: OrgId, execution_ids: Sequence[str]) -> dict[str, Usage]:
        return await self._transcripts.usages(org_id, execution_ids)
