"""What policies do not guarantee, in words (policies 2.5)."""

from __future__ import annotations

MAY_START_WITH_A_REPLY = "what is left may start with a reply, which some providers refuse"
MAY_LOSE_THE_REQUEST = "the latest typed request may be dropped, and no summary tells of it"
