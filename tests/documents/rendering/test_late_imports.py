"""What a template can name is there before the child can open nothing more."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from netautod.documents.rendering.pool import RenderPool


async def test_no_template_imports_anything(repository_root: Path) -> None:
    """Every filter and test with typical and odd arguments."""
    command = (sys.executable, "-m", "tests.documents.rendering.late_imports")
    process = await asyncio.create_subprocess_exec(*command, cwd=repository_root, stdout=PIPE)
    printed, _ = await process.communicate()
    assert json.loads(printed) == []


@pytest.mark.parametrize(
    ("template", "output"),
    [
        pytest.param("{{ '<b>a</b> &amp; b'|striptags }}", "a & b", id="striptags"),
        pytest.param("{{ 'ä'.encode('cp1252')|list }}", "[228]", id="an encoding of Windows"),
        pytest.param("{{ 'bücher.de'.encode('idna').decode() }}", "xn--bcher-kva.de", id="idna"),
        pytest.param("{{ 'bücher'.encode('punycode').decode() }}", "bcher-kva", id="punycode"),
        pytest.param("{{ 'é'.encode('utf-16-le')|list }}", "[233, 0]", id="utf-16"),
        pytest.param("{{ '日'.encode('shift_jis')|list }}", "[147, 250]", id="an encoding in C"),
        pytest.param("{{ '\\N{BULLET}' }}", "•", id="a character by its name"),
        pytest.param(
            "{{ 'é'.encode('ascii', 'namereplace').decode() }}",
            r"\N{LATIN SMALL LETTER E WITH ACUTE}",
            id="the name of a character",
        ),
    ],
)
async def test_what_python_imports_late_is_there(renderer: RenderPool, template: str, output: str) -> None:
    rendered = await renderer.render(template, {})
    assert rendered.to_json() == {"output": output, "success": True, "error": None}


@pytest.mark.parametrize(
    ("encoding", "error"),
    [
        pytest.param("nonsense", "LookupError: unknown encoding: nonsense", id="unknown"),
        pytest.param("mbcs", "LookupError: unknown encoding: mbcs", id="of another system"),
        pytest.param("zlib", "LookupError: 'zlib' is not a text encoding", id="no encoding of text"),
    ],
)
async def test_an_encoding_that_does_not_exist_is_named(
    renderer: RenderPool, encoding: str, error: str
) -> None:
    rendered = await renderer.render(f"{{{{ 'x'.encode('{encoding}') }}}}", {})
    assert error in str(rendered.error)
