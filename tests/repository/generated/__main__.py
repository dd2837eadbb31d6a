"""Writes the generated pages of the manual from the code."""

import sys

from tests.repository.generated.pages import GENERATED
from tests.support.manual import MANUAL


def main() -> None:
    for name, render in GENERATED.items():
        path, text = MANUAL / f"{name}.md", render()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{name}.md is renewed\n")


if __name__ == "__main__":
    main()
