"""What a command printed, out of all that came: without its echo and the prompt. Pure."""

from collections.abc import Collection, Sequence

from netautod.ssh.platform.model import Platform


def body_of(lines: Sequence[str], command: str, prompts: Collection[str], platform: Platform) -> list[str]:
    """Removes the echo and the prompt, and nothing else."""
    first = next((n for n, line in enumerate(lines) if _is_echo(line, command, platform)), -1)
    body = list(lines[first + 1 :])
    while body and _is_echo(body[0], command, platform):
        del body[0]  # RouterOS paints the line again
    end = next((n for n, line in enumerate(body) if line.rstrip() in prompts), len(body))
    while end and platform.is_prompt_head(body[end - 1]):
        end -= 1
    return body[:end]


def _is_echo(line: str, command: str, platform: Platform) -> bool:
    line = line.strip()  # a cursor address leaves blanks where the prompt stood
    if line == command:
        return True
    return line.endswith(command) and platform.mode_of(line[: -len(command)]) is not None
