"""The documentation, as ``make docs`` built it."""
