"""Saved views: keep one, forget one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessions.models import SavedKind, SavedView

if TYPE_CHECKING:
    from sessions.models import Session


def save_view(
    *, session: Session, kind: str, state: str, name: str, note: str = "", owner_id: int | None = None
) -> SavedView:
    """Keep a view of ``session`` (its query string) under a name; raises ValueError for a kind that there is not."""
    return SavedView.objects.create(
        session=session, kind=SavedKind(kind), state=state, name=name, note=note, owner_id=owner_id
    )


def forget_view(*, view_id: int, owner_id: int | None) -> bool:
    """Delete a saved view of this account (None: of anybody); False where there is none."""
    n, _ = SavedView.objects.seen_by(owner_id).filter(pk=view_id).delete()
    return n > 0
