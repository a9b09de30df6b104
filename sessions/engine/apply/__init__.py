"""Agents that a setting can be written down for, one module each with one ``AGENT``.

Keys are taken from the agent's own documentation or source, named with the day of the comparison beside each.
"""
