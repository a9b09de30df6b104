"""The core: pure Python, no Django, no network, no clock, no environment."""
