"""Compaction policies, one module each: a trigger (when) and an edit (how), both pure.

A policy module declares ``POLICY``, a family in one file ``POLICIES``; see ``policies.policy`` for the interface and
the view they are given.
"""
