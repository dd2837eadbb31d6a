"""The error of a benchmark that cannot be run."""


class BenchmarkError(Exception):
    """One line that says what is missing, or what the measured side did instead of its work."""
