"""Agents, one module each with one ``AGENT``; ``sessions.engine.agents.agent`` is what its record says.

Keys of configurations are taken from the agent's own documentation or source, named with the day of the comparison.
"""
