"""The wait for the next prompt of a dialog, or for the command prompt that ends it."""

from collections.abc import Callable

from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.shell.conversation import Conversation, Verdict
from netautod.transport.ssh.shell.dialogs import Ask, Judge


class AwaitedLine:
    """The end of a step of a dialog: a prompt, or a question of the dialog.

    A banner may hold a line that begins as the question: it is one when nothing follows it.
    """

    patience = 1

    def __init__(self, conversation: Conversation, *, prompt: Judge, is_question: Judge) -> None:
        self._conversation = conversation
        self._prompt = prompt
        self._is_question = is_question

    def at_end(self, line: str) -> Verdict:
        if self._prompt(line):
            return "done"
        return "soon" if self._is_question(line) else "no"

    def in_silence(self, ticks: int) -> bool:
        line = self._conversation.standing_line()
        return self._is_question(line) or self._prompt(line)


class DialogSteps:
    """The steps of a dialog on a conversation, each of which has `seconds()`.

    `is_question` in the methods below knows the questions of the dialog.
    """

    def __init__(
        self, conversation: Conversation, platform: Platform, *, seconds: Callable[[], float]
    ) -> None:
        self._conversation = conversation
        self._platform = platform
        self._seconds = seconds

    def is_prompt(self, line: str) -> bool:
        return self._platform.mode_of(line) is not None

    async def answer(self, stage: str, is_question: Judge) -> str:
        """Wait for the line at which the device stops, and return it."""
        ending = AwaitedLine(self._conversation, prompt=self.is_prompt, is_question=is_question)
        await self._conversation.until(stage, ending, seconds=self._seconds())
        return self._conversation.standing_line()

    def ask(self, is_question: Judge) -> Ask:
        async def send(line: str, stage: str) -> str:
            self._conversation.clear()
            self._conversation.send(line)
            return await self.answer(stage, is_question)

        return send
