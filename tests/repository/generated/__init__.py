"""Pages of the manual that are written from the code; `python -m tests.repository.generated` renews all."""
