"""The generated pages of the manual say what the code says."""

import pytest

from tests.repository.generated.pages import COMMAND, GENERATED
from tests.support.manual import MANUAL


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_that_of_the_code(name: str) -> None:
    path = MANUAL / f"{name}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    assert text == GENERATED[name](), f"{name}.md is out of date: run {COMMAND}"
