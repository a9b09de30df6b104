"""What templates are given: frozen dataclasses, built from the engine's values, with every figure ready to print."""
