"""Identities of messages: the native id, else where the message stands (replay-semantics 1)."""

from __future__ import annotations


def unique_id(native_id: str, place: str, taken: set[str]) -> str:
    """``native_id`` unless it is empty or ``taken``, else ``place`` with as many primes as it takes; then taken."""
    found = native_id if native_id and native_id not in taken else place
    while found in taken:
        found += "'"
    taken.add(found)
    return found
