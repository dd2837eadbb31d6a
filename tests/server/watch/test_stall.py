"""What counts as time in which the event loop is held up, and whose fault that is."""

import os
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from netautod.automation.executions.abandoned.models import Blocked, GivenUp
from netautod.core.watch.board import Board, MarkedRun
from netautod.server.watch import samples
from netautod.server.watch.samples import Sample, sample, seconds_computing
from netautod.server.watch.stacks import MAIN, by_thread
from netautod.server.watch.stall import Stall, held_up
from netautod.server.watch.verdict import Inquiry


def seen(state: str, at: float, *, on_cpu: float = 0.0, waited: float = 0.0, page_ins: int = 0) -> Sample:
    return Sample(state=state, at=at, on_cpu=on_cpu, waited=waited, page_ins=page_ins)


@pytest.mark.parametrize(
    ("now", "counted"),
    [
        pytest.param(seen("S", 0.25), 0.25, id="it sleeps: all of it"),
        pytest.param(seen("R", 0.25, on_cpu=0.25), 0.25, id="it computes: all of it"),
        pytest.param(seen("D", 0.25), 0.25, id="it waits for a disk or a file server: all of it"),
        pytest.param(seen("R", 0.25, on_cpu=0.05), 0.05, id="it computes on a starved machine: what it ran"),
        pytest.param(seen("R", 0.25), 0.0, id="it never had a processor: nothing"),
        pytest.param(seen("S", 0.25, waited=0.2), 0.05, id="it slept and waited for a processor: the sleep"),
        pytest.param(seen("D", 0.25, page_ins=9), 0.0, id="its own pages are read in: nothing"),
        pytest.param(seen("T", 0.25), 0.0, id="it is stopped: nothing"),
        pytest.param(seen("t", 0.25), 0.0, id="a debugger has it: nothing"),
        pytest.param(seen("Z", 0.25), 0.0, id="it is dead: nothing"),
        pytest.param(seen("S", 60.0), 0.5, id="the watching process did not run either: one look's worth"),
    ],
)
def test_only_time_in_which_it_ran_itself_counts(now: Sample, counted: float) -> None:
    assert held_up(seen("S", 0.0), now, longest=0.5) == pytest.approx(counted)


def test_a_stall_adds_up_what_its_looks_count() -> None:
    stall = Stall(longest=0.5)
    for look in (seen("S", 0.0), seen("S", 0.25), seen("T", 0.5), seen("S", 0.75)):
        stall.look(look)
    assert stall.seconds == pytest.approx(0.5)


def test_a_look_at_a_process() -> None:
    before, after = sample(os.getpid()), sample(os.getpid())
    assert before is not None
    assert after is not None
    assert (before.state, after.on_cpu >= before.on_cpu > 0) == ("R", True)
    assert sample(2**22 + 1) is None


DUMP = """Thread 0x00007f0000000002 (most recent call first):
  File "/lib/re.py", line 3 in match
  File "/site/acme.py", line 9 in run

Current thread 0x00007f0000000001 (most recent call first):
  File "/site/acme.py", line 12 in run
  <no Python frame>
"""


def test_the_stacks_of_a_dump() -> None:
    stacks = by_thread(DUMP)
    assert [str(frame) for frame in stacks[MAIN]] == ["/site/acme.py:12 in run"]
    assert [frame.place for frame in stacks[0x7F0000000002]] == [
        "re.py, line 3, in match",
        "acme.py, line 9, in run",
    ]


def marked(name: str) -> MarkedRun:
    return MarkedRun(execution_id=f"id of {name}", epoch=3, task=name, plugin="acme")


def test_the_run_on_the_loop_is_named_with_where_it_is() -> None:
    board = Board()
    board.begin("node-1")
    inquiry = Inquiry(board, os.getpid())
    board.mark(board.enter(marked("nightly")))
    culprit = inquiry.culprit(Stall(longest=1), DUMP)
    assert str(culprit) == "the task 'nightly' (execution id of nightly) in the plugin acme"
    assert culprit.stack == "/site/acme.py:12 in run"
    given_up = culprit.given_up(board.node_id, 20.4)
    text = "the run blocked its node for 20 seconds in the plugin acme (acme.py, line 12, in run)"
    assert given_up == GivenUp(node_id="node-1", by=Blocked(execution_id="id of nightly", epoch=3, text=text))


@pytest.mark.parametrize("busy", [True, False], ids=["computes", "waits as well"])
def test_a_thread_that_computes_while_the_loop_waits_is_the_culprit(busy: bool) -> None:
    board = Board()
    noted, told = threading.Event(), threading.Event()
    entry = board.enter(marked("threaded"))

    def work() -> None:
        board.note_thread(entry, marked("threaded"))
        noted.set()
        told.wait()
        while busy and not done.is_set():
            re.match("(a+)+$", "a" * 18 + "b")  # holds the interpreter lock for a while, again and again

    done = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    noted.wait()
    inquiry, stall = Inquiry(board, os.getpid()), Stall(longest=1)
    told.set()
    stall.look(seen("S", 0.0))
    stall.look(seen("S", 0.01))
    [before] = board.threads()
    while busy and seconds_computing(os.getpid(), before.thread) < 0.1:
        done.wait(0.01)
    culprit = inquiry.culprit(stall, DUMP)
    done.set()
    thread.join()
    assert (culprit.run is not None) == busy


class Threads:
    """What the kernel would tell of threads: seconds on a processor and of waits for one."""

    def __init__(self, folder: Path, board: Board) -> None:
        self._folder, self._board = folder, board

    def add(self, number: int, name: str) -> None:
        run = replace(marked(name), thread=number, ident=number)
        self._board._write(self._board.enter(run), run)
        self.show(number, on_cpu=7.0, waited=3.0)

    def show(self, number: int, *, on_cpu: float, waited: float) -> None:
        place = self._folder / "1" / "task" / str(number)
        place.mkdir(parents=True, exist_ok=True)
        (place / "schedstat").write_text(f"{on_cpu * 1e9:.0f} {waited * 1e9:.0f} 5\n")


@pytest.mark.parametrize(
    ("state", "ran", "holder", "named"),
    [
        pytest.param("S", 0.0, (4.0, 0.0), True, id="the thread has a processor"),
        pytest.param("S", 0.0, (0.8, 3.2), True, id="the thread waits for a processor most of the time"),
        pytest.param("R", 0.1, (0.8, 3.2), True, id="so does the loop, when it asks for the lock"),
        pytest.param("S", 0.0, (0.3, 0.5), False, id="the thread waits for something else"),
        pytest.param("R", 2.0, (2.0, 0.1), False, id="two that compute take turns"),
        pytest.param("R", 4.0, (4.0, 0.0), False, id="the loop has its own processor"),
    ],
)
def test_a_loaded_machine_does_not_hide_who_holds_the_lock(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    ran: float,
    holder: tuple[float, float],
    named: bool,
) -> None:
    monkeypatch.setattr(samples, "PROC", tmp_path)
    board, stall = Board(), Stall(longest=5.0)
    threads = Threads(tmp_path, board)
    threads.add(2, "holder")
    threads.add(3, "other")
    inquiry = Inquiry(board, 1)
    threads.show(2, on_cpu=7.0 + holder[0], waited=3.0 + holder[1])
    threads.show(3, on_cpu=7.2, waited=3.3)
    for look in range(17):
        stall.look(seen("S" if look < 16 else state, look / 4, on_cpu=5.0 + ran * look / 16))
    culprit = inquiry.culprit(stall, DUMP)
    assert (culprit.run.task if culprit.run else None) == ("holder" if named else None)


def test_code_of_nobody_is_named_by_its_stack_only() -> None:
    culprit = Inquiry(Board(), os.getpid()).culprit(Stall(longest=1), DUMP)
    assert (str(culprit), culprit.stack) == ("code that belongs to no run", "/site/acme.py:12 in run")
    assert culprit.given_up("node-1", 20) == GivenUp(node_id="node-1", by=None)
