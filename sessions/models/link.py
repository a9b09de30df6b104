"""Views that somebody shares, by links whose tokens are stored hashed, or keeps under a name."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions.engine.redact import BY_KEY, Choice
from sessions.models.session import Session


class LinkedView(models.TextChoices):
    """The page a link shows."""

    SESSION = "session"
    REPLAY = "replay"
    DIFF = "diff"


class LinkQuerySet(models.QuerySet["ReplayLink"]):
    """Named questions about links."""

    def open(self) -> LinkQuerySet:
        """Links that lead somewhere: neither revoked nor expired, and a reply only while its first link is open."""
        now = timezone.now()
        own = Q(expires_at=None) | Q(expires_at__gt=now)
        first = Q(reply_to__expires_at=None) | Q(reply_to__expires_at__gt=now)
        return self.filter(own, first, revoked_at__isnull=True, reply_to__revoked_at__isnull=True)


class ReplayLink(models.Model):
    """One link: only a hash of its token is stored, so the database cannot give it away.

    ``state`` is the query string of the view at the moment of sharing.  ``left_in`` are the kinds of secrets that the
    sender lets through, by key; ``words`` what else to take out; ``password`` a hash, empty where none is asked for.
    ``moves``: a recipient may move where the policy compacts.  ``takes_replies``: a recipient may answer with a
    setting, which makes a link with ``reply_to`` and the name that they gave (``author``);
    the sender's ``answer`` stands on it.  ``remarks`` are the
    sender's notes on single messages, [index, text]; ``version`` is that of the ctxweb which computed ``results``:
    what the page showed then, redacted (``pages.links.frozen``), at the prices of which ``prices`` is a digest.
    """

    token_hash = models.CharField(max_length=64, unique=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="links")
    view = models.CharField(max_length=8, choices=LinkedView.choices)
    state = models.TextField(blank=True)
    title = models.CharField(max_length=255, blank=True)
    note = models.TextField(blank=True)
    maker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="links", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    password = models.CharField(max_length=128, blank=True)
    left_in = models.JSONField(default=list, blank=True)
    words = models.JSONField(default=list, blank=True)
    moves = models.BooleanField(default=False)
    takes_replies = models.BooleanField(default=False)
    reply_to = models.ForeignKey("self", on_delete=models.CASCADE, related_name="replies", null=True, blank=True)
    author = models.CharField(max_length=60, blank=True)
    answer = models.CharField(max_length=500, blank=True)
    remarks = models.JSONField(default=list, blank=True)
    version = models.CharField(max_length=32, blank=True)
    n_views = models.PositiveIntegerField(default=0)
    viewed_at = models.DateTimeField(null=True, blank=True)
    results = models.BinaryField(null=True, blank=True)
    prices = models.CharField(max_length=16, blank=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (models.CheckConstraint(condition=Q(view__in=LinkedView.values), name="link_view_known"),)

    def __str__(self) -> str:
        return self.title or f"{self.view} of {self.session_id}"

    @property
    def revoked(self) -> bool:
        return self.revoked_at is not None

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def ended(self) -> bool:
        """Whether it leads nowhere, by itself or with the link that it replies to."""
        first = self.reply_to
        return self.revoked or self.expired or (first is not None and (first.revoked or first.expired))

    @property
    def choice(self) -> Choice:
        """What is taken out before anyone sees it."""
        return Choice(frozenset(BY_KEY.keys() - set(self.left_in)), tuple(self.words))


class SavedKind(models.TextChoices):
    """What a saved view shows."""

    REPLAY = "replay", "Replay"
    AB = "ab", "A/B"
    SWEEP = "sweep", "Sweep"


class SavedQuerySet(models.QuerySet["SavedView"]):
    """Saved views by who may see them."""

    def seen_by(self, owner_id: int | None) -> SavedQuerySet:
        """Those of one account; all of them where there are no accounts (None)."""
        return self if owner_id is None else self.filter(owner_id=owner_id)


class SavedView(models.Model):
    """A view kept under a name; ``state`` is its query string, ``owner`` None where it was saved without an account."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views", null=True, blank=True
    )
    kind = models.CharField(max_length=8, choices=SavedKind.choices)
    state = models.TextField(blank=True)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SavedQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (models.CheckConstraint(condition=Q(kind__in=SavedKind.values), name="saved_kind_known"),)

    def __str__(self) -> str:
        return self.name
