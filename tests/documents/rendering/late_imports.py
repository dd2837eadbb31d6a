"""Prints, as JSON, what is imported by templates after the child has prepared itself: run as a program, since
another test would have imported it already.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress

from netautod.documents.rendering.environment import Environment, describe, environment, render, warm_up
from netautod.documents.rendering.preload import preload

VALUES = {
    "text": "<b>a &amp; b</b> 3.5 é",
    "number": 3,
    "list": [3, 1, 2],
    "rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    "address": "10.0.0.1/24",
    "mac": "00:00:0c:00:00:00",
}
ARGUMENTS = ("", "('a')", "(2)", "('sha512')", "(attribute='a')")
ODD = (
    "{{ '\\N{BULLET}' }}",
    "{{ 'é'.encode('ascii', 'namereplace') }}",
    "{% filter striptags %}<b>&nbsp;{% endfilter %}",
    "{% for row in rows|groupby('a') %}{{ row }}{% endfor %}",
    "{% for n in range(3) recursive %}{{ loop(range(n)) }}{% endfor %}",
    "{{ '%.3f'|format(1.5) }}{{ '{:,}'.format(1000) }}{{ '{:n}'.format(1000) }}",
    "{{ (1.5).as_integer_ratio() }}{{ (2).bit_length() }}{{ (1.5).hex() }}",
    "{{ 'a'.translate({97: 'b'}) }}{{ 'ß'.casefold() }}{{ ' a'.expandtabs() }}",
    "{{ 'x'.missing() }}",
    "{{ rows.a.b() }}",
)


def templates(made: Environment) -> Iterator[str]:
    for value in VALUES:
        for arguments in ARGUMENTS:
            yield from (f"{{{{ {value}|{name}{arguments} }}}}" for name in made.filters)
        yield from (f"{{{{ {value} is {name} 1 }}}}" for name in made.tests if name.isidentifier())
    for encoding in ("idna", "punycode", "cp1252", "utf-7", "shift_jis", "gb18030", "rot13", "nonsense"):
        yield f"{{{{ text.encode('{encoding}', 'replace').decode('{encoding}', 'ignore') }}}}"
    yield from ODD


def main() -> None:
    made = environment()
    preload()
    warm_up(made)
    before = {*sys.modules}
    for template in templates(made):
        try:
            render(made, template, VALUES)
        except Exception as error:  # noqa: BLE001 - an error of the template is no matter here
            with suppress(Exception):
                describe(error)
    json.dump(sorted({*sys.modules} - before), sys.stdout)


if __name__ == "__main__":
    main()
