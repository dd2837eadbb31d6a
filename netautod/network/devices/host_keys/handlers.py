"""The routes of changed host keys. Clients ask for the list several times a second."""

from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.devices.host_keys.schemas import HostKeyPromptAnswer, HostKeyPromptItem
from netautod.network.devices.host_keys.service import HostKeys
from netautod.network.devices.records.vouched import MANAGE_CREDENTIALS

RESOURCE = "Host key prompt"


class HostKeyHandler(JsonHandler):
    host_keys: HostKeys


class PromptsHandler(HostKeyHandler):
    @requires("devices.access", answer=HostKeyPromptItem, name="list_host_key_prompts")
    async def get(self) -> None:
        """List the changed host keys that wait for a decision, the newest first (at most 1,000)."""
        waiting = await self.host_keys.waiting(self.caller.org_id)
        self.answer([prompt.to_json() for prompt in waiting])


class ApproveHandler(HostKeyHandler):
    @requires(MANAGE_CREDENTIALS, answer=HostKeyPromptAnswer, grows=False, name="approve_host_key")
    async def post(self, prompt_id: str) -> None:
        """Pin the key of the prompt for its device."""
        prompt = await self.host_keys.approve(self.caller, self.path_id(prompt_id, RESOURCE))
        self.answer(prompt.to_json())


class RejectHandler(HostKeyHandler):
    @requires(MANAGE_CREDENTIALS, answer=HostKeyPromptAnswer, grows=False, name="reject_host_key")
    async def post(self, prompt_id: str) -> None:
        """Keep the pinned key; background work does not report the other one again."""
        prompt = await self.host_keys.reject(self.caller, self.path_id(prompt_id, RESOURCE))
        self.answer(prompt.to_json())


ROUTES = (
    Route(path="/api/host-keys/prompts", handler=PromptsHandler),
    Route(path="/api/host-keys/prompts/:id/approve", handler=ApproveHandler),
    Route(path="/api/host-keys/prompts/:id/reject", handler=RejectHandler),
)
