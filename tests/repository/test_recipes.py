"""The recipes of the manual, followed step by step in a copy of the checkout."""

import re
from pathlib import Path

import pytest

from tests.repository.checkout import ROOT, Block, Checkout, blocks
from tests.support.manual import page, pages, section

# A recipe is a page, or two whose steps follow each other.
PAGES = {
    "route": ("route",),
    "setting": ("setting",),
    "platform": ("platform",),
    "resource": ("resource", "resource-routes"),
    "hook": ("hook",),
}
RECIPES = {
    name: "\n".join(page(f"develop/recipe-{one}.md") for one in names) for name, names in PAGES.items()
}
CHECKS = section(page("develop/tests.md"), "Run the checks of CI")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


async def follow(recipe: str, checkout: Checkout) -> None:
    for block in blocks(recipe):
        if block.language == "sh":
            await checkout.run(block.text)
        else:
            checkout.apply(block)


def test_every_page_of_a_recipe_is_followed() -> None:
    written = {name for name in pages() if name.startswith("develop/recipe-")}
    assert written == {f"develop/recipe-{one}.md" for names in PAGES.values() for one in names}


@pytest.mark.parametrize("name", RECIPES)
def test_the_steps_are_numbered_and_the_last_one_tries_the_others(name: str) -> None:
    steps = re.findall(r"^(\d+)\. ", RECIPES[name], re.MULTILINE)
    assert steps == [str(number + 1) for number in range(len(steps))]
    last = blocks(RECIPES[name])[-1]
    assert last.language == "sh"
    assert ".venv/bin/pytest " in last.text


@pytest.mark.parametrize("name", RECIPES)
def test_the_changes_of_a_recipe_fit_the_code(name: str, checkout: Checkout) -> None:
    """Without running anything, so that plain pytest notices at once when the code has moved on."""
    for block in blocks(RECIPES[name]):
        if block.language != "sh":
            checkout.apply(block)
    assert checkout.missing_imports() == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", RECIPES)
async def test_a_recipe_works(name: str, checkout: Checkout) -> None:
    await follow(RECIPES[name], checkout)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_all_recipes_together_pass_the_checks(checkout: Checkout) -> None:
    for recipe in RECIPES.values():
        for block in blocks(recipe):
            if block.language != "sh":
                checkout.apply(block)
            elif ".venv/bin/pytest" not in block.text:
                await checkout.run(block.text)
    [checks] = blocks(CHECKS)
    assert checks == Block(language="sh", text="\n".join(_checks_of_ci()) + "\n")
    await checkout.run(checks.text)


def _checks_of_ci() -> list[str]:
    script = (ROOT / ".ci" / "run").read_text()
    checks = script[script.index("\n.venv/bin/ruff") :].strip()
    return checks.partition("\n\n")[0].splitlines()
