"""Sessions: what the library lists, and the packed facts a replay walks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from sessions.engine.sweeps.fleet.values import OVERCOUNTED
from sessions.engine.why.causes import CAUSES, MEDIA
from sessions.models.listed import FileKey, NotIndexed, OrderIndex
from sessions.models.upload import Upload
from sessions.models.viewer import Viewer, visible


class TokenLabel(models.TextChoices):
    """How a token figure is known (the engine's Label)."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"


NEWEST_FIRST = (F("ended_at").desc(nulls_last=True), F("created_at").desc())
SORTS = {
    "last": (*NEWEST_FIRST, "position", "id"),
    "title": ("title", "id"),
    "format": ("format", "id"),
    "model": ("model", "id"),
    "messages": ("-n_messages", "id"),
    "tokens": ("-tokens", "id"),
    "wire": ("-wire_bytes", "id"),
    "images": ("-n_images", "id"),
    "overcount": (F("worst_overcount").desc(nulls_last=True), "id"),
    "compactions": ("-n_compactions", "id"),
    "peak": (F("peak_context").desc(nulls_last=True), "id"),
    "cost": (F("figures__dollars").desc(nulls_last=True), "id"),
}
"""Orders of the library by name; the first is the default."""


VISIBILITY_FIELDS = ("branch_of", "parent", "private", "upload")
FILTER_FIELDS = ("format", "model", "n_images", "n_compactions", "worst_overcount")
LIST_INDEX_FIELDS = (
    "position", "id", "file_key", *VISIBILITY_FIELDS, *FILTER_FIELDS, "n_messages", "tokens", "wire_bytes",
    "peak_context", "title",
)  # fmt: skip
FILE_INDEX_FIELDS = (
    "file_key", "id", *VISIBILITY_FIELDS, *FILTER_FIELDS, "tokens_label", "n_messages", "tokens", "wire_bytes",
    "wrong_cause",
)  # fmt: skip
"""The columns of two covering indexes, by time and by file: a page of the list is answered by an index alone."""


class SessionQuerySet(models.QuerySet["Session"]):
    """Named questions about sessions."""

    def seen_by(self, who: Viewer) -> SessionQuerySet:
        """Sessions that ``who`` sees: their own and the team's."""
        if who.is_admin or who.user_id is None:
            return self.filter(visible(who, private="private", owner="upload__owner"))
        # No join: the figures of a row are then read from an index alone.
        return self.filter(Q(private=False) | Q(upload__in=Upload.objects.filter(owner=who.user_id).values("pk")))

    def roots(self) -> SessionQuerySet:
        """Sessions that are not a sub-agent of another, each once."""
        return self.latest_branches().filter(parent__isnull=True)

    def latest_branches(self) -> SessionQuerySet:
        """Every session once, on its latest branch: not the branches that a rewind left."""
        return self.filter(branch_of__isnull=True)

    def with_figures(self, **values: object) -> SessionQuerySet:
        figures = self.model._meta.get_field("figures").related_model
        having = figures._default_manager.filter(**values).values("session")
        # A filter on ``pk`` alone would make SQLite look every id up, which is slower where many rows match.
        return self.alias(pk_unindexed=NotIndexed("pk")).filter(pk_unindexed__in=having)

    def matching(self, words: str) -> SessionQuerySet:
        """Sessions whose title, model, native id or file name contains every word, any case."""
        matches = self
        for word in words.split():
            matches = matches.filter(
                Q(title__icontains=word)
                | Q(model__icontains=word)
                | Q(native_id__icontains=word)
                | Q(upload__filename__icontains=word)
            )
        return matches

    def sorted_by(self, name: str) -> SessionQuerySet:
        """Ordered by one of ``SORTS``; a leading ``-`` reverses it; an unknown name gives the default order."""
        return self.order_by(*ordering(name))


def ordering(name: str) -> list[models.OrderBy]:
    """The order of ``sorted_by`` as expressions of its own."""
    columns: Sequence[str | models.OrderBy] = SORTS.get(name.removeprefix("-"), SORTS["last"])
    order = [_order_by(column) for column in columns]
    if name.startswith("-"):
        for expression in order:
            expression.reverse_ordering()
    return order


def _order_by(column: str | models.OrderBy) -> models.OrderBy:
    if isinstance(column, models.OrderBy):
        return deepcopy(column)
    return F(column[1:]).desc() if column.startswith("-") else F(column).asc()


def _all_or_none(*names: str) -> Q:
    all_unknown = {f"{name}__isnull": True for name in names}
    all_known = {f"{name}__isnull": False for name in names}
    return Q(**all_unknown) | Q(**all_known)


class Session(models.Model):
    """One agent conversation with the figures its list row and its page head show.

    ``tokens`` is the sum of its messages' tokens without overhead, ``tokens_label`` the weakest label among them.
    ``usage_*`` are provider-reported sums, all null where the transcript has none.  ``worst_message`` is the index of
    the message with the most over-counted image.  ``spark`` is {"points": up to 60 context sizes in tokens (the
    largest of each bin), "compactions": positions 0..1 of recorded compactions, "worst": position 0..1 or null}.

    ``member`` is its file in an archive and ``text_sha256`` the blob with that file's bytes; both empty where the
    upload is the file.  ``parent_call_id`` is the tool call of the parent that started it.  ``home_id`` is
    the native id of the session that a sub-agent's file names as the one it belongs to; it, ``prompt_hash`` and
    ``spawns`` ([call, agent, prompt hash] each) link files that arrive at different times.
    ``version`` changes exactly when the packed facts do: caches and followers compare it.

    ``branch`` is the leaf of its branch where a rewind left more than one; each branch is a row, ``branch_of`` leads
    from those that were left to the latest.  ``shares_with`` is a session stored earlier that holds some of the same
    messages (resumed or forked): ``n_shared_*`` and ``shared_*`` count those, in this or any other earlier session.

    ``opening`` is the first message as "role kinds preview", kinds with commas, the preview cut at 255 characters: what
    a rewritten file and a neighbour's transcript are known by.

    ``private``: its owner's alone, who is its upload's; else the team's.

    ``wire_bytes`` are its bytes as the transcript has them, ``pressure_bytes`` the same with a flat charge for each
    image (the estimator of that name).  ``wrong_cause`` is the leading cause among the verdicts that tell of trouble,
    "" without one.

    ``file_key`` tells its file from others (``listed.key_of``); it follows from ``upload`` and ``member``.
    """

    id = models.CharField(primary_key=True, max_length=16)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="sessions")
    position = models.PositiveIntegerField()
    private = models.BooleanField(default=False)
    native_id = models.CharField(max_length=255, blank=True, db_index=True)
    member = models.CharField(max_length=1100, blank=True)
    text_sha256 = models.CharField(max_length=64, blank=True)
    file_key = FileKey(max_length=16, blank=True, editable=False)
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="children", db_index=False
    )
    parent_call_id = models.CharField(max_length=255, blank=True)
    home_id = models.CharField(max_length=255, blank=True, db_index=True)
    prompt_hash = models.CharField(max_length=16, blank=True)
    spawns = models.JSONField(default=list, blank=True)
    branch = models.CharField(max_length=64, blank=True)
    branch_of = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="branches", db_index=False
    )
    shares_with = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="shared_by")
    n_shared_messages = models.PositiveIntegerField(default=0)
    n_shared_requests = models.PositiveIntegerField(default=0)
    n_shared_images = models.PositiveIntegerField(default=0)
    shared_tokens = models.PositiveBigIntegerField(default=0)
    shared_wire_bytes = models.PositiveBigIntegerField(default=0)
    shared_usage = models.JSONField(default=dict, blank=True)
    title = models.CharField(max_length=255, blank=True)
    opening = models.CharField(max_length=350, blank=True)
    format = models.CharField(max_length=40)
    model = models.CharField(max_length=100, blank=True)
    client = models.CharField(max_length=100, blank=True)
    n_messages = models.PositiveIntegerField()
    n_requests = models.PositiveIntegerField()
    n_images = models.PositiveIntegerField()
    n_tool_calls = models.PositiveIntegerField()
    wire_bytes = models.PositiveBigIntegerField()
    pressure_bytes = models.PositiveBigIntegerField()
    tokens = models.PositiveBigIntegerField()
    tokens_label = models.CharField(max_length=10, choices=TokenLabel.choices)
    usage_input = models.PositiveBigIntegerField(null=True, blank=True)
    usage_cache_read = models.PositiveBigIntegerField(null=True, blank=True)
    usage_cache_write = models.PositiveBigIntegerField(null=True, blank=True)
    usage_output = models.PositiveBigIntegerField(null=True, blank=True)
    worst_overcount = models.FloatField(null=True, blank=True)
    worst_message = models.PositiveIntegerField(null=True, blank=True)
    n_compactions = models.PositiveIntegerField(default=0)
    headline = models.CharField(max_length=400, blank=True)
    wrong_cause = models.CharField(max_length=60, blank=True)
    peak_context = models.PositiveBigIntegerField(null=True, blank=True)
    peak_label = models.CharField(max_length=10, choices=TokenLabel.choices, blank=True)
    window = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True, db_index=True)
    spark = models.JSONField(default=dict, blank=True)
    warnings = models.JSONField(default=list, blank=True)
    version = models.CharField(max_length=16, blank=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "position")
        indexes = (
            OrderIndex(*NEWEST_FIRST, *LIST_INDEX_FIELDS, name="session_listed"),
            models.Index(fields=FILE_INDEX_FIELDS, name="session_of_file"),
            # Not of the others, which are nearly all: SQLite takes an index of NULLs for a narrow choice.
            models.Index(fields=("parent",), condition=Q(parent__isnull=False), name="session_parent"),
            models.Index(fields=("branch_of",), condition=Q(branch_of__isnull=False), name="session_branch_of"),
            models.Index(fields=("worst_overcount",), condition=Q(worst_overcount__isnull=False), name="session_worst"),
        )
        constraints = (
            models.UniqueConstraint(fields=("upload", "position"), name="session_position_once"),
            models.CheckConstraint(condition=Q(tokens_label__in=TokenLabel.values), name="session_tokens_labelled"),
            models.CheckConstraint(
                condition=Q(peak_context__isnull=True) | Q(peak_label__in=TokenLabel.values),
                name="session_peak_labelled",
            ),
            models.CheckConstraint(
                condition=_all_or_none("usage_input", "usage_cache_read", "usage_cache_write", "usage_output"),
                name="session_usage_whole_or_none",
            ),
            models.CheckConstraint(
                condition=_all_or_none("worst_overcount", "worst_message"), name="session_worst_names_message"
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")), name="session_not_its_own_parent"
            ),
        )

    def __str__(self) -> str:
        return self.title or self.native_id or self.id

    def get_absolute_url(self) -> str:
        return reverse("sessions:session", args=[self.pk])

    @property
    def is_overcounted(self) -> bool:
        return self.worst_overcount is not None and self.worst_overcount >= OVERCOUNTED

    @property
    def is_hurt_by_overcount(self) -> bool:
        """Whether something followed from it: a compaction or a refusal because an image was counted as text."""
        return self.is_overcounted and self.wrong_cause == CAUSES[MEDIA]

    @property
    def is_over_window(self) -> bool:
        """Whether its largest context is more than its window holds."""
        return 0 < self.window < (self.peak_context or 0)

    @property
    def filename(self) -> str:
        """The name of the file it was read from, without folders."""
        return (self.member or self.upload.filename).rpartition("/")[2]


class SessionFacts(models.Model):
    """Everything but the text of one session: ``packed`` is ``engine.pack.pack(transcript)``."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="facts")
    packed = models.BinaryField()

    class Meta:
        verbose_name_plural = "session facts"


class SessionKey(models.Model):
    """One of a sample of a session's native message ids, hashed: how a resumed or forked file is recognised."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="keys")
    key = models.BigIntegerField(db_index=True)
