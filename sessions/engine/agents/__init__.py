"""Agents, one module each with one ``AGENT``, those that are not configured together in ``transcripts``.

``sessions.engine.agents.agent`` is what a record says.

Keys of configurations are taken from the agent's own documentation or source, named with the day of the comparison.
"""
