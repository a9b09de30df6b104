"""Summarizers, one module each: who writes the summary in a replay.

A summarizer module declares ``SUMMARIZER``; see ``sessions.engine.replays.summaries`` for the interface.
"""
