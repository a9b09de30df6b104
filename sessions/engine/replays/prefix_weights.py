"""What the first messages of a list weigh together, moved along from one question to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions.engine.policies.policy import Item


@dataclass(slots=True)
class PrefixWeights:
    """The first ``n`` messages of a list: ``tokens`` are theirs in display tokens (replay-semantics 3).

    A step weighs its measured weight (``weights``) where all its ``members`` are there unedited, else what stands of it
    weighs by itself.  A cut that moves on with its list costs the messages that it moves over.
    """

    weights: Sequence[int]
    members: Sequence[int]
    n: int = 0
    tokens: int = 0
    unedited: dict[int, int] = field(default_factory=dict)
    standing: dict[int, int] = field(default_factory=dict)

    def to(self, items: Sequence[Item], n: int) -> int:
        """Tokens of the first ``n`` messages of ``items``, which are those known before as far as they were known."""
        self.back_to(items, n)
        if n > self.n:
            self._count(items[self.n : n], 1)
            self.n = n
        return self.tokens

    def back_to(self, items: Sequence[Item], n: int) -> None:
        """Only the first ``n`` are known any longer, or none where taking off the others would be longer than that."""
        if n >= self.n:
            return
        if 2 * n < self.n:
            self.tokens, n = 0, 0
            self.unedited.clear()
            self.standing.clear()
        else:
            self._count(items[n : self.n], -1)
        self.n = n

    def _count(self, items: Sequence[Item], sign: int) -> None:
        """Messages come in, or leave (-1)."""
        unedited, standing, members, weights = self.unedited, self.standing, self.members, self.weights
        tokens = 0
        for item in items:
            if item.inserted:
                tokens += sign * item.tokens
                continue
            step = item.step
            n_before, held = unedited.get(step, 0), standing.get(step, 0)
            n, left = n_before if item.edited else n_before + sign, held + sign * item.tokens
            unedited[step], standing[step] = n, left
            whole = members[step]
            tokens += (weights[step] if n == whole else left) - (weights[step] if n_before == whole else held)
        self.tokens += tokens
