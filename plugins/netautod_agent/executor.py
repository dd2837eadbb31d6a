"""The executor of agent tasks: calls the model and the tools that it requests, until it has an answer."""

import time
from typing import Any, ClassVar

from marshmallow import INCLUDE, Schema, fields, validate

from netautod.plugin_api import (
    AgentDesk,
    ApprovalWanted,
    ExecutionFailed,
    ModelBackend,
    ModelFailed,
    NeedsApproval,
    PermanentFailure,
    RunContext,
    ToolCall,
    TranscriptEvent,
)
from netautod_agent.budgets import Budgets, BudgetSpent
from netautod_agent.citations import REFUSED, citations_of
from netautod_agent.conversation import final_answer, messages_of, opening, unanswered
from netautod_agent.settings import AgentSettings

NO_MODEL = "no model back end is configured"
LOGGED = 500  # characters of a text in the log


class AgentParameters(Schema):
    """The parameters of an agent task.

    `prompt` is the only recognised key; others are kept as they are.
    """

    class Meta:
        unknown = INCLUDE

    prompt = fields.String(required=True, validate=validate.Length(min=1, max=65536))


class AgentExecutor:
    """The executor of agent tasks.

    It is not idempotent: an agent that was half-way through must not be started again by itself.
    """

    task_type: ClassVar[str] = "agent_task"
    parameters_schema: ClassVar[type[Schema] | None] = AgentParameters
    idempotent: ClassVar[bool] = False

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings

    async def run(self, context: RunContext) -> Any:
        desk = context.acting.agent
        if desk.model is None:
            raise PermanentFailure(NO_MODEL)
        events = list(await desk.events())
        run = _Run(context, desk, desk.model, self._settings, events)
        try:
            return await run.to_the_end()
        except BudgetSpent as spent:
            await desk.stopped(spent.text)
            raise PermanentFailure(spent.text, output=run.output(None)) from spent
        except PermanentFailure as failure:
            raise PermanentFailure(failure.text, output=run.output(None)) from failure


class _Run:
    """The state of one attempt; `events` is the transcript, which grows while it runs."""

    def __init__(
        self,
        context: RunContext,
        desk: AgentDesk,
        model: ModelBackend,
        settings: AgentSettings,
        events: list[TranscriptEvent],
    ) -> None:
        self._context = context
        self._desk = desk
        self._model = model
        self._settings = settings
        self._events = events
        self._budgets = Budgets(settings, events)

    async def to_the_end(self) -> Any:
        if not self._events:
            self._add(await self._desk.say("system", opening(await self._desk.briefing())))
            self._add(await self._desk.say("user", self._context.parameters["prompt"]))
        while (answer := final_answer(self._events)) is None:
            for call in unanswered(self._events):
                await self._call(call)
            await self._turn()
        await self._context.log("info", f"answer: {_short(answer)}")
        return self.output(answer)

    def output(self, answer: str | None) -> dict[str, Any]:
        """Return the output of the execution; `answer` None: the agent has reached none."""
        used = self._budgets.to_json()
        documents = [made for event in self._events for made in event.documents]
        return {
            "answer": answer,
            "citations": [] if answer is None else citations_of(answer, self._events),
            "usage": used,
            "tool_calls": [_made(event) for event in self._events if event.role == "tool"],
            "documents": documents,
            "transcript_events": len(self._events),
            "final_answer": answer,
            "iterations_used": used["turns"],
            "tool_calls_made": used["tool_calls"],
        }

    async def _turn(self) -> None:
        self._budgets.before_turn()
        started = time.monotonic()
        try:
            reply = await self._model.complete(
                messages_of(self._events), self._desk.tools(), self._context.http
            )
        except ModelFailed as failure:
            kind = ExecutionFailed if failure.transient else PermanentFailure
            raise kind(failure.text, output=self.output(None)) from failure
        event = await self._desk.replied(reply, round((time.monotonic() - started) * 1000))
        self._add(event)
        wanted = ", ".join(call.name for call in event.tool_calls)
        text = f"turn {self._budgets.to_json()['turns']}: " + (f"calls {wanted}" if wanted else "answers")
        await self._context.log("info", text)

    async def _call(self, call: ToolCall) -> None:
        self._budgets.before_call()
        try:
            event = await self._desk.call(call, self._budgets.admit)
        except ApprovalWanted as wanted:
            text = str(wanted.request.get("text", call.name))
            await self._context.log("info", f"{call.name} waits for an approval: {_short(text)}")
            by_others = not self._settings.approve_own
            raise NeedsApproval(wanted.request, state=wanted.state, by_others=by_others) from wanted
        self._add(event)
        level = "info" if event.ok else "warning"
        device = event.device_ids[0] if len(event.device_ids) == 1 else None
        text = f"{call.name}: {event.source}, {event.lines} lines" if event.ok else _error(event)
        await self._context.log(level, _short(text), device)

    def _add(self, event: TranscriptEvent) -> None:
        self._events.append(event)
        self._budgets.count(event)


def _made(event: TranscriptEvent) -> dict[str, Any]:
    return {
        "tool_call_id": event.tool_call_id,
        "tool": event.tool,
        "ok": event.ok,
        "source": event.source,
        "lines": event.lines,
    }


def _error(event: TranscriptEvent) -> str:
    first = (event.result or "").split("\n")[1:2]
    text = first[0].partition("| ")[2] if first else "failed"
    return f"{event.tool}: {text}" if event.source == REFUSED else f"{event.tool}: {event.source}: {text}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LOGGED else f"{text[:LOGGED]} ..."
