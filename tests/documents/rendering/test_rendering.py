"""Rendering over HTTP: what templates give, what is an error of the template and what of the request."""

import asyncio
import os
import select
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.core.loop.child_process import ChildProcess
from netautod.documents.rendering import pool as render_pool
from netautod.documents.rendering.limits import pack_request
from netautod.documents.rendering.pool import CHILD, RenderPool
from tests.documents.library import NOTE, PASSPHRASE, TEMPLATE, TEXT, Node
from tests.support.client import assert_error
from tests.support.execution import eventually

VLANS = """\
{% for vlan in vlans if vlan.id > 1 -%}
vlan {{ vlan.id }}
 name {{ vlan.name|upper }}
{% endfor -%}
"""


def alive(child: ChildProcess) -> bool:
    return Path(f"/proc/{child.pid}").exists()


@pytest.mark.parametrize(
    ("template", "variables", "output"),
    [
        pytest.param("hello {{ name }}", {"name": "sw-1"}, "hello sw-1", id="a variable"),
        pytest.param("a{{ missing }}b", {}, "ab", id="undefined is empty"),
        pytest.param("a{{ c.d }}b", {"c": {}}, "ab", id="an attribute that is not there is empty"),
        pytest.param("a{{ gone.d }}b", {"gone": None}, "ab", id="an attribute of null is empty"),
        pytest.param("a{% for v in c.d %}x{% endfor %}b", {"c": {}}, "ab", id="no loop over it"),
        pytest.param("{{ c.d|default('x') }}", {"c": {}}, "x", id="a default for an attribute"),
        pytest.param("a{{ gone }}b", {"gone": None}, "ab", id="null is empty"),
        pytest.param("{{ missing|default('x') }}", {}, "x", id="a default"),
        pytest.param("{{ name }} é €", {"name": "ü"}, "ü é €", id="not only ASCII"),
        pytest.param("{{ a|tojson }}", {"a": {"b": [1, None, "x"]}}, '{"b": [1, null, "x"]}', id="tojson"),
        pytest.param("{{ a.b.c }}", {"a": {"b": {"c": 7}}}, "7", id="nested values"),
        pytest.param("{{ '<&>' }}", {}, "<&>", id="no HTML escaping"),
        pytest.param("", {}, "", id="nothing"),
        pytest.param(
            VLANS,
            {"vlans": [{"id": 1, "name": "a"}, {"id": 20, "name": "b"}]},
            "vlan 20\n name B\n",
            id="a loop with a condition",
        ),
        pytest.param("{{ '10.0.0.0/29'|get_first_usable }}", {}, "10.0.0.1", id="netutils, first address"),
        pytest.param("{{ '10.1.1.1'|ip_addition(256) }}", {}, "10.1.2.1", id="netutils, addition"),
        pytest.param("{{ '255.255.255.0'|netmask_to_cidr }}", {}, "24", id="netutils, netmask"),
        pytest.param("{{ '00:00:0c:00:00:01'|get_oui }}", {}, "Cisco Systems, Inc", id="netutils, vendor"),
        pytest.param(
            "{{ 'Gi1/0/1'|canonical_interface_name }}", {}, "GigabitEthernet1/0/1", id="netutils, interface"
        ),
        pytest.param(
            "{{ '10.0.0.0/30'|ipaddress_network('hosts')|join(' ') }}",
            {},
            "10.0.0.1 10.0.0.2",
            id="netutils, ipaddress",
        ),
        pytest.param(
            "{{ '10.0.0.0/24'|ipaddress_network('subnets', new_prefix=25)|join(' ') }}",
            {},
            "10.0.0.0/25 10.0.0.128/25",
            id="netutils, ipaddress with an option",
        ),
        pytest.param("{{ '10.0.0.1'|ipaddress_address('__int__') }}", {}, "167772161", id="as a number"),
        pytest.param(
            "{{ 'x'|hash_data('sha1') }}", {}, "11f6ad8ec52a2984abaafd7c3b516503785c2072", id="hash"
        ),
        pytest.param("{% set l = [] %}{% do l.append(1) %}{{ l }}", {}, "[1]", id="do"),
        pytest.param("{% for i in range(9) %}{% break %}{{ i }}{% endfor %}", {}, "", id="break"),
        pytest.param("{{ 2 ** 128 }}", {}, str(2**128), id="the arithmetic of IPv6"),
        pytest.param("{{ '{:>5}|{}'.format('a', 1) }}", {}, "    a|1", id="an honest format"),
    ],
)
async def test_templates(renderer: RenderPool, template: str, variables: dict[str, Any], output: str) -> None:
    rendered = await renderer.render(template, variables)
    assert rendered.to_json() == {"output": output, "success": True, "error": None}


@pytest.mark.parametrize(
    ("template", "error"),
    [
        pytest.param("{{ a() }}", "line 1: 'a' is undefined", id="a call of undefined"),
        pytest.param("{{ a + 1 }}", "line 1: 'a' is undefined", id="undefined in a sum"),
        pytest.param("{{ a.b }}", "line 1: 'a' is undefined", id="an attribute of undefined"),
        pytest.param("x\n{{ a['b'] }}", "line 2: 'a' is undefined", id="an item of undefined"),
        pytest.param("{{ a[0] }}", "line 1: 'a' is undefined", id="a number of undefined"),
        pytest.param("{{ a.b|default('x') }}", "'a' is undefined", id="a default below undefined"),
        pytest.param("{{ a.b is defined }}", "'a' is undefined", id="a test below undefined"),
        pytest.param("{% for v in a.b %}{% endfor %}", "'a' is undefined", id="a loop below undefined"),
        pytest.param("{{ {}.b.c }}", "has no attribute 'b'", id="below an attribute that is not there"),
        pytest.param("{{ a|attr('b') }}", "'a' is undefined", id="an attribute by a filter"),
        pytest.param("{{ [a]|map(attribute='b')|list }}", "'a' is undefined", id="an attribute of each"),
        pytest.param("{{ [a]|tojson }}", "'a' is undefined", id="undefined as JSON"),
        pytest.param("{{ a.b.__globals__ }}", "'a' is undefined", id="internals of undefined"),
        pytest.param("{{ a.__class__ }}", "is unsafe", id="the class of undefined"),
        pytest.param("x\n{% if %}", "line 2: Expected an expression", id="a syntax error"),
        pytest.param("x\n\n{{ 1 / 0 }}", "line 3: ZeroDivisionError: division by zero", id="a division"),
        pytest.param("{{ 1|bananas }}", "No filter named 'bananas'", id="an unknown filter"),
        pytest.param("{{ 'x'|netmask_to_cidr }}", "line 1: ", id="an error in a filter"),
        pytest.param("{% include 'x' %}", "no loader", id="an include"),
        pytest.param("{{ 'a'.encode('rot13') }}", "'rot13' is not a text encoding", id="no encoding of text"),
    ],
)
async def test_an_error_of_the_template_is_one_sentence(
    renderer: RenderPool, template: str, error: str
) -> None:
    rendered = await renderer.render(template, {})
    assert (rendered.success, rendered.output) == (False, "")
    assert error in str(rendered.error)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        pytest.param("{{ gone }}", "'gone'", id="a name"),
        pytest.param("x\n{{ here }} {{ gone }}", "line 2: 'gone'", id="its line"),
        pytest.param("{{ here.gone }}", "'gone'", id="an attribute that is not there"),
        pytest.param("{% if gone %}{% endif %}", "'gone'", id="a condition"),
        pytest.param("{% for one in gone %}{% endfor %}", "'gone'", id="a loop"),
        pytest.param("{{ gone|upper }}", "'gone'", id="a filter"),
        pytest.param("{{ gone|length }}", "'gone'", id="its length"),
        pytest.param("{{ 'a' ~ gone }}", "'gone'", id="a part of a text"),
        pytest.param("{{ [gone] }}", "'gone'", id="in a list"),
        pytest.param("{{ {'a': gone}|tojson }}", "'gone'", id="as JSON"),
        pytest.param("{{ gone == 1 }}", "'gone'", id="a comparison"),
        pytest.param("{% set seen = here %}{{ seen }}{{ gone or 1 }}", "'gone'", id="an alternative"),
    ],
)
async def test_strictly_an_undefined_name_is_an_error_that_names_it(
    renderer: RenderPool, template: str, name: str
) -> None:
    defined = {"here": {"gone": "x"}, "gone": "x"}
    assert (await renderer.render(template, defined, strict=True)).success
    rendered = await renderer.render(template, {"here": {}}, strict=True)
    assert (rendered.success, rendered.output) == (False, "")
    assert name in str(rendered.error)


@pytest.mark.parametrize(
    ("template", "output"),
    [
        pytest.param("{{ gone|default('x') }}", "x", id="a default"),
        pytest.param("{{ gone is defined }}", "False", id="a test"),
        pytest.param("{% if false %}{{ gone }}{% endif %}", "", id="what is not reached"),
        pytest.param("{{ null }}", "", id="null"),
        pytest.param("{% for i in range(2) %}{{ loop.index }}{% endfor %}", "12", id="names of Jinja2"),
        pytest.param("{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1) }}", "1", id="an argument"),
    ],
)
async def test_what_is_no_error_strictly(renderer: RenderPool, template: str, output: str) -> None:
    rendered = await renderer.render(template, {"null": None}, strict=True)
    assert rendered.to_json() == {"output": output, "success": True, "error": None}


async def test_strictness_over_http(node: Node) -> None:
    path = f"/api/docs/{(await node.create(TEMPLATE, content='a{{ name }}b'))['id']}/render"
    for body, error in (
        ({}, None),
        ({"strict": False}, None),
        ({"strict": True}, "line 1: 'name' is undefined"),
        ({"strict": True, "variables": {"name": ""}}, None),
    ):
        assert (await node.api.post(path, body)).expect()["error"] == error
    for wrong in ("true", 1, [True]):
        assert_error(await node.api.post(path, {"strict": wrong}), 400, "strict")


@pytest.mark.parametrize(
    ("template", "names"),
    [
        pytest.param("{{ b }}{{ a.c }}{{ b[0] }}", ["a", "b"], id="sorted, each once"),
        pytest.param("{% for v in vlans %}{{ v }}{{ loop.index }}{% endfor %}", ["vlans"], id="a loop"),
        pytest.param("{% set a = b %}{{ a }}", ["b"], id="what it sets itself is none"),
        pytest.param("{% macro m(x) %}{{ x }}{{ y }}{% endmacro %}{{ m(1) }}", ["y"], id="a macro"),
        pytest.param("{{ range(3)|list }}{{ '1'|netmask_to_cidr }}", [], id="names of Jinja2 are none"),
        pytest.param("{% if x is defined %}{{ é }}{% endif %}", ["x", "é"], id="tested ones, in any letters"),
        pytest.param("text", [], id="none"),
    ],
)
async def test_the_variables_of_a_template(node: Node, template: str, names: list[str]) -> None:
    made = await node.create(TEMPLATE, content=template)
    answer = await node.api.get(f"/api/docs/{made['id']}/variables")
    assert answer.expect() == {"variables": names}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param(TEXT, "Only a document of content_type jinja has variables", id="a text"),
        pytest.param({**TEMPLATE, "content": "x\n{% if %}"}, "cannot be read: line 2: ", id="a broken one"),
        pytest.param(
            {**TEMPLATE, "content": "{{ " + "(" * 5000 + "a" + ")" * 5000 + " }}"}, "nested", id="a deep one"
        ),
        pytest.param(
            {**TEMPLATE, "content": "".join(f"{{{{ v{n:0100} }}}}" for n in range(20_000))},
            "cannot be read: ",
            id="with a million letters of names",
        ),
    ],
)
async def test_a_document_whose_variables_cannot_be_listed(
    node: Node, fields: dict[str, Any], text: str
) -> None:
    made = await node.create(fields)
    assert_error(await node.api.get(f"/api/docs/{made['id']}/variables"), 400, text)


async def test_a_document_is_rendered_over_http(node: Node) -> None:
    made = await node.create(TEMPLATE, content="hello {{ name }}")
    assert await node.render(made, name="sw-1") == {"output": "hello sw-1", "success": True, "error": None}
    changed = await node.put(made, content="{{ a() }}")
    failed = await node.render(changed)
    assert failed == {"output": "", "success": False, "error": "line 1: 'a' is undefined"}
    assert await node.get(made) == changed


async def test_what_the_request_can_do_wrong(node: Node) -> None:
    text = await node.create(TEXT)
    assert_error(await node.api.post(f"/api/docs/{text['id']}/render", {}), 400, "content_type jinja")
    path = f"/api/docs/{(await node.create(TEMPLATE))['id']}/render"
    assert_error(await node.api.post(path, {"variables": [1]}), 400, "variables")
    assert_error(await node.api.post(path, {"variables": "x"}), 400, "variables")
    assert_error(await node.api.post(path, {"bananas": {}}), 400, "bananas")
    assert_error(await node.api.post(path, {"variables": {"a": "x" * 2**20}}), 413)
    assert (await node.api.post(path)).json["output"] == "first"


async def test_a_note_can_be_a_template(node: Node) -> None:
    made = await node.create({**NOTE, "content_type": "jinja"}, content="hello {{ name }}")
    assert (await node.render(made, name="x"))["output"] == "hello x"
    await node.notes.set_password(node.caller, PASSPHRASE)
    await node.notes.lock(node.caller)
    assert_error(await node.api.post(f"/api/docs/{made['id']}/render"), 403, "Vault is locked")


async def test_nothing_outlives_a_render(renderer: RenderPool) -> None:
    count = "{% set c = namespace(n=0) %}{% set c.n = c.n + 1 %}{{ c.n }}{{ secret }}"
    assert (await renderer.render(count, {"secret": "s"})).output == "1s"
    for _ in range(4):
        assert (await renderer.render(count, {})).output == "1"


async def test_the_child_inherits_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETAUTOD_ADMIN_PASSWORD", "hunter2")
    with (tmp_path / "open").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        child = await ChildProcess.start(CHILD)
        try:
            process = Path(f"/proc/{child.pid}")
            options = b'{"work": "render", "variables": {}}'
            assert b"hunter2" not in (process / "environ").read_bytes()
            assert sorted(os.listdir(process / "fd")) == ["0", "1", "2"]
            assert os.readlink(process / "cwd") == "/"
            assert await child.ask(pack_request(b"{{ 1 + 1 }}", options)) == (True, b"2")
        finally:
            await child.kill()


BREAKOUT = """
import os, socket
from netautod.documents.rendering.child import confine
confine()
for attempt in (
    lambda: open("/etc/passwd"),
    lambda: os.open("/etc/passwd", os.O_RDONLY),
    lambda: socket.socket(),
    lambda: os.pipe(),
    lambda: bytearray(300 * 2**20),
):
    try:
        attempt()
    except (OSError, MemoryError):
        continue
    os._exit(1)
while True:
    pass
"""


async def test_who_breaks_out_of_jinja_can_open_nothing_and_is_stopped(repository_root: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BREAKOUT, env={"PYTHONPATH": str(repository_root)}
    )
    assert await process.wait() in (-signal.SIGXCPU, -signal.SIGALRM)


async def test_a_killed_child_is_replaced() -> None:
    async with RenderPool(processes=1) as pool:
        assert (await pool.render("{{ 1 }}", {})).output == "1"
        (child,) = pool.children
        os.kill(child.pid, signal.SIGKILL)
        lost = await pool.render("{{ 1 }}", {})
        assert (lost.success, lost.error) == (False, "The rendering process died")
        assert (await pool.render("{{ 1 }}", {})).output == "1"


async def test_children_live_from_the_first_render_until_nothing_is_rendered_any_more() -> None:
    async with RenderPool(processes=2, idle_seconds=0.1) as pool:
        assert not pool.children
        assert (await pool.render("{{ 1 }}", {})).output == "1"
        (child,) = pool.children

        async def gone() -> bool:
            return not alive(child)

        await eventually(gone)
        assert not pool.children
        assert (await pool.render("{{ 2 }}", {})).output == "2"


async def test_a_child_that_does_not_answer_is_killed_in_time() -> None:
    async with RenderPool(processes=1) as pool:
        assert (await pool.render("{{ 1 }}", {})).success
        (child,) = pool.children
        os.kill(child.pid, signal.SIGSTOP)
        late = await pool.render("{{ 1 }}", {})
        assert late.error == "The template took longer than 3 seconds"
        assert not alive(child)
        assert (await pool.render("{{ 1 }}", {})).success


async def test_children_end_with_the_pool_and_when_a_request_is_cancelled() -> None:
    async with RenderPool(processes=1) as pool:
        assert (await pool.render("{{ 1 }}", {})).success
        (child,) = pool.children
        task = asyncio.create_task(pool.render("{% for i in range(99999) %}{{ i ** 9 }}{% endfor %}", {}))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (await pool.render("{{ 2 }}", {})).output == "2"
        (last,) = pool.children
    assert not alive(child)
    assert not alive(last)


PARENT = """
import asyncio
from netautod.core.loop.child_process import ChildProcess
from netautod.documents.rendering.pool import CHILD

async def main():
    child = await ChildProcess.start(CHILD)
    print(child.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_children_end_with_a_service_that_is_killed(repository_root: Path) -> None:
    service = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT),
        stdout=PIPE,
        env={"PYTHONPATH": str(repository_root)},
    )
    assert service.stdout is not None
    pid = int(await service.stdout.readline())
    exited = os.pidfd_open(pid)
    try:
        service.kill()
        await service.wait()
        assert await asyncio.to_thread(select.select, [exited], [], [], 10) == ([exited], [], [])
    finally:
        os.close(exited)


async def test_too_many_at_once_are_answered_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_pool, "MAX_WAITING", 3)
    async with RenderPool(processes=1) as pool:
        answers = await asyncio.gather(
            *(pool.render("{{ 1 }}", {}) for _ in range(8)), return_exceptions=True
        )
    refused = [answer for answer in answers if isinstance(answer, Unavailable)]
    assert len(refused) in (4, 5)
    assert all(answer.output == "1" for answer in answers if not isinstance(answer, BaseException))


async def test_a_child_that_cannot_start_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netautod.core.loop.child_process._BOOT", "raise SystemExit(3)")
    async with RenderPool(processes=1) as pool:
        with pytest.raises(Unavailable, match="cannot be rendered"):
            await pool.render("{{ 1 }}", {})
