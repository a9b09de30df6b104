from __future__ import annotations

import pytest
from django.utils import timezone

from sessions.engine.redact import BY_KEY, Choice
from sessions.models import ReplayLink, Session
from sessions.services.links import Terms, count_view, create_link, find_link, renew_link, revoke_link
from tests.services.claude_lines import session
from tests.services.conftest import Ingest


@pytest.fixture
def stored(ingested: Ingest) -> Session:
    ingested(session(1))
    return Session.objects.get()


def test_a_link_opens_with_its_state_and_counts_views(stored: Session) -> None:
    link, token = create_link(session=stored, view="diff", state="policy=claude_code&event=1", title="Look here")
    for n_views in (1, 2):
        count_view(link)
        opened = find_link(token=token)
        assert opened is not None
        assert opened.viewed_at is not None
        assert (opened.pk, opened.view, opened.state, opened.n_views) == (link.pk, "diff", link.state, n_views)


def test_the_token_is_long_and_not_stored(stored: Session) -> None:
    tokens = {create_link(session=stored, view="replay").token for _ in range(5)}
    assert len(tokens) == 5
    assert all(len(token) >= 22 for token in tokens)
    assert not any(token in str(row) for token in tokens for row in ReplayLink.objects.values_list())


def test_a_revoked_link_is_gone_for_good(stored: Session) -> None:
    link, token = create_link(session=stored, view="replay")
    revoked = revoke_link(link_id=link.pk)
    assert revoked.revoked
    assert find_link(token=token) is None
    assert revoke_link(link_id=link.pk).revoked_at == revoked.revoked_at
    assert ReplayLink.objects.get().n_views == 0


def test_a_link_ends_at_its_time(stored: Session) -> None:
    link, token = create_link(session=stored, view="replay", terms=Terms(days=7))
    assert find_link(token=token) is not None
    ReplayLink.objects.filter(pk=link.pk).update(expires_at=timezone.now())
    assert find_link(token=token) is None
    assert ReplayLink.objects.get().expired


def test_a_new_address_ends_the_old_one_and_keeps_the_rest(stored: Session) -> None:
    made = create_link(session=stored, view="replay", title="Look", terms=Terms(password="correct-horse"))
    fresh = renew_link(link_id=made.link.pk)
    assert find_link(token=made.token) is None
    assert (fresh.link.title, fresh.link.password) == ("Look", made.link.password)
    assert find_link(token=fresh.token) == made.link
    revoke_link(link_id=made.link.pk)
    with pytest.raises(ReplayLink.DoesNotExist):
        renew_link(link_id=made.link.pk)


def test_what_a_link_leaves_in_is_kept_with_it(stored: Session) -> None:
    choice = Choice(frozenset(BY_KEY) - {"homes"}, ("northwind",))
    link, _ = create_link(session=stored, view="replay", terms=Terms(choice=choice))
    assert ReplayLink.objects.get(pk=link.pk).choice == choice


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", "x", "\ud83d", "a" * 10_000])
def test_an_unknown_token_opens_nothing(token: str) -> None:
    assert find_link(token=token) is None


def test_only_known_views_can_be_shared(stored: Session) -> None:
    with pytest.raises(ValueError, match="admin"):
        create_link(session=stored, view="admin")
