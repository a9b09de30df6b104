"""The schema: every table whole, in the order of its references, and the table of the search."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from sessions.adapters import fulltext
from sessions.models.listed import OrderIndex

if TYPE_CHECKING:
    from django.apps.registry import Apps
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def make_search_table(_apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    fulltext.create()


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ModelAnswer",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("count", "count"), ("summary", "summary"), ("judgement", "judgement")], max_length=10
                    ),
                ),
                ("model", models.CharField(max_length=100)),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                ("text_sha256", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="ModelPrice",
            fields=[
                ("model", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("input", models.FloatField(null=True)),
                ("output", models.FloatField(null=True)),
                ("cache_read", models.FloatField(null=True)),
                ("cache_write", models.FloatField(null=True)),
                ("cache_write_1h", models.FloatField(null=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="StoppedSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, unique=True)),
                ("path", models.TextField()),
                ("stopped_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("ending", models.CharField(max_length=4)),
                ("name", models.CharField(max_length=80)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="FiguresRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("rules", models.PositiveSmallIntegerField(unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed"])),
                        name="catching_up_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(blank=True, max_length=150)),
                ("is_admin", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "maker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
            },
        ),
        migrations.CreateModel(
            name="Media",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("media_type", models.CharField(max_length=100)),
                ("n_bytes", models.PositiveBigIntegerField()),
                ("apart", models.BooleanField(default=False)),
                ("width", models.PositiveIntegerField(default=0)),
                ("height", models.PositiveIntegerField(default=0)),
                ("thumbnail", models.BinaryField(null=True)),
            ],
            options={
                "verbose_name_plural": "media",
                "indexes": [models.Index(fields=["media_type"], name="media_type")],
            },
        ),
        migrations.CreateModel(
            name="SearchRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed"])),
                        name="search_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SweepRun",
            fields=[
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=64, unique=True)),
                ("query", models.TextField(blank=True)),
                ("options", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("rows", models.JSONField(default=dict)),
                ("n_done", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField()),
                ("cancel_asked", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("-created_at",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])),
                        name="sweeping_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                ("followed", models.BooleanField(default=False)),
                ("private", models.BooleanField(default=False)),
                ("filename", models.CharField(max_length=255)),
                ("n_bytes", models.PositiveBigIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[("queued", "Queued"), ("reading", "Reading"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("format", models.CharField(blank=True, max_length=40)),
                ("reason", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("skipped", models.JSONField(blank=True, default=list)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("fates", models.JSONField(blank=True, default=list)),
                ("n_deleted", models.PositiveIntegerField(default=0)),
                ("dismissed", models.BooleanField(default=False)),
                ("head", models.CharField(blank=True, db_index=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "id"),
                "indexes": [models.Index(fields=["status", "dismissed", "private", "owner"], name="upload_status")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["queued", "reading", "done", "failed"])),
                        name="upload_status_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("followed", False), ("owner__isnull", True)),
                        fields=("sha256",),
                        name="upload_bytes_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("followed", False)),
                        fields=("sha256", "owner"),
                        name="upload_bytes_once_each",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), _negated=True),
                            models.Q(("error", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="upload_failed_says_why",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Part",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("start", models.PositiveIntegerField()),
                ("stop", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("reading", "Reading"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("done_bytes", models.PositiveBigIntegerField(default=0)),
                ("total_bytes", models.PositiveBigIntegerField(default=0)),
                ("found", models.JSONField(blank=True, default=dict)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="agent_sessions.upload"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state"], name="part_state")],
                "constraints": [
                    models.UniqueConstraint(fields=("upload", "start"), name="part_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "reading", "done", "failed"])),
                        name="part_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("start__lt", models.F("stop"))), name="part_of_something"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(blank=True, max_length=1100)),
                ("n_bytes", models.PositiveBigIntegerField()),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "status",
                    models.CharField(
                        choices=[("waits", "Waits"), ("read", "Read"), ("other", "Other"), ("failed", "Failed")],
                        max_length=6,
                    ),
                ),
                ("format", models.CharField(blank=True, max_length=40)),
                ("n_sessions", models.PositiveIntegerField(default=0)),
                ("n_skipped", models.PositiveIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="agent_sessions.upload"
                    ),
                ),
            ],
            options={
                "ordering": ("upload", "position"),
                "constraints": [
                    models.UniqueConstraint(fields=("upload", "position"), name="member_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["waits", "read", "other", "failed"])),
                        name="member_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("status__in", ("read", "waits")), models.Q(("error", ""), _negated=True), _connector="OR"
                        ),
                        name="member_unread_says_why",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LiveSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, unique=True)),
                ("path", models.TextField()),
                ("n_bytes", models.PositiveBigIntegerField()),
                ("mtime_ns", models.BigIntegerField()),
                ("changed_at", models.DateTimeField()),
                ("n_versions", models.PositiveIntegerField(default=1)),
                ("previous_sha256", models.CharField(blank=True, max_length=64)),
                (
                    "upload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="live", to="agent_sessions.upload"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("reading", "Reading"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("done_bytes", models.PositiveBigIntegerField(default=0)),
                ("total_bytes", models.PositiveBigIntegerField(default=0)),
                (
                    "upload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="job", to="agent_sessions.upload"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state"], name="job_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "reading", "done", "failed"])),
                        name="job_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("done_bytes__lte", models.F("total_bytes"))), name="job_done_within_total"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Continuation",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("is_beginning", models.BooleanField(default=False)),
                ("n_new", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="continuations",
                        to="agent_sessions.upload",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("private", models.BooleanField(default=False)),
                ("native_id", models.CharField(blank=True, db_index=True, max_length=255)),
                ("member", models.CharField(blank=True, max_length=1100)),
                ("text_sha256", models.CharField(blank=True, max_length=64)),
                ("file_key", models.CharField(blank=True, editable=False, max_length=16)),
                ("parent_call_id", models.CharField(blank=True, max_length=255)),
                ("home_id", models.CharField(blank=True, db_index=True, max_length=255)),
                ("prompt_hash", models.CharField(blank=True, max_length=16)),
                ("spawns", models.JSONField(blank=True, default=list)),
                ("branch", models.CharField(blank=True, max_length=64)),
                ("n_shared_messages", models.PositiveIntegerField(default=0)),
                ("n_shared_requests", models.PositiveIntegerField(default=0)),
                ("n_shared_images", models.PositiveIntegerField(default=0)),
                ("shared_tokens", models.PositiveBigIntegerField(default=0)),
                ("shared_wire_bytes", models.PositiveBigIntegerField(default=0)),
                ("shared_usage", models.JSONField(blank=True, default=dict)),
                ("title", models.CharField(blank=True, max_length=255)),
                ("opening", models.CharField(blank=True, max_length=350)),
                ("format", models.CharField(max_length=40)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("client", models.CharField(blank=True, max_length=100)),
                ("n_messages", models.PositiveIntegerField()),
                ("n_requests", models.PositiveIntegerField()),
                ("n_images", models.PositiveIntegerField()),
                ("n_tool_calls", models.PositiveIntegerField()),
                ("wire_bytes", models.PositiveBigIntegerField()),
                ("pressure_bytes", models.PositiveBigIntegerField()),
                ("tokens", models.PositiveBigIntegerField()),
                (
                    "tokens_label",
                    models.CharField(
                        choices=[("measured", "Measured"), ("calibrated", "Calibrated"), ("estimated", "Estimated")],
                        max_length=10,
                    ),
                ),
                ("usage_input", models.PositiveBigIntegerField(blank=True, null=True)),
                ("usage_cache_read", models.PositiveBigIntegerField(blank=True, null=True)),
                ("usage_cache_write", models.PositiveBigIntegerField(blank=True, null=True)),
                ("usage_output", models.PositiveBigIntegerField(blank=True, null=True)),
                ("worst_overcount", models.FloatField(blank=True, null=True)),
                ("worst_message", models.PositiveIntegerField(blank=True, null=True)),
                ("n_compactions", models.PositiveIntegerField(default=0)),
                ("headline", models.CharField(blank=True, max_length=400)),
                ("wrong_cause", models.CharField(blank=True, max_length=60)),
                ("peak_context", models.PositiveBigIntegerField(blank=True, null=True)),
                (
                    "peak_label",
                    models.CharField(
                        blank=True,
                        choices=[("measured", "Measured"), ("calibrated", "Calibrated"), ("estimated", "Estimated")],
                        max_length=10,
                    ),
                ),
                ("window", models.PositiveBigIntegerField(default=0)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("spark", models.JSONField(blank=True, default=dict)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("version", models.CharField(blank=True, max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                (
                    "branch_of",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="branches",
                        to="agent_sessions.session",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="agent_sessions.session",
                    ),
                ),
                (
                    "shares_with",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="shared_by",
                        to="agent_sessions.session",
                    ),
                ),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sessions", to="agent_sessions.upload"
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "position"),
                "indexes": [
                    OrderIndex(
                        models.OrderBy(models.F("ended_at"), descending=True, nulls_last=True),
                        models.OrderBy(models.F("created_at"), descending=True),
                        models.F("position"),
                        models.F("id"),
                        models.F("file_key"),
                        models.F("branch_of"),
                        models.F("parent"),
                        models.F("private"),
                        models.F("upload"),
                        models.F("format"),
                        models.F("model"),
                        models.F("n_images"),
                        models.F("n_compactions"),
                        models.F("worst_overcount"),
                        models.F("n_messages"),
                        models.F("tokens"),
                        models.F("wire_bytes"),
                        models.F("peak_context"),
                        models.F("title"),
                        name="session_listed",
                    ),
                    models.Index(
                        fields=[
                            "tokens_label",
                            "format",
                            "model",
                            "branch_of",
                            "parent",
                            "private",
                            "upload",
                            "n_images",
                            "n_compactions",
                            "worst_overcount",
                            "n_messages",
                            "tokens",
                            "wire_bytes",
                            "shares_with",
                            "n_shared_messages",
                            "shared_tokens",
                            "shared_wire_bytes",
                            "n_shared_images",
                        ],
                        name="session_summed",
                    ),
                    models.Index(
                        fields=[
                            "file_key",
                            "id",
                            "branch_of",
                            "parent",
                            "private",
                            "upload",
                            "format",
                            "model",
                            "n_images",
                            "n_compactions",
                            "worst_overcount",
                            "tokens_label",
                            "n_messages",
                            "tokens",
                            "wire_bytes",
                            "wrong_cause",
                        ],
                        name="session_of_file",
                    ),
                    models.Index(
                        condition=models.Q(("parent__isnull", False)), fields=["parent"], name="session_parent"
                    ),
                    models.Index(
                        condition=models.Q(("branch_of__isnull", False)), fields=["branch_of"], name="session_branch_of"
                    ),
                    models.Index(
                        condition=models.Q(("worst_overcount__isnull", False)),
                        fields=["worst_overcount"],
                        name="session_worst",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("upload", "position"), name="session_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("tokens_label__in", ["measured", "calibrated", "estimated"])),
                        name="session_tokens_labelled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("peak_context__isnull", True),
                            ("peak_label__in", ["measured", "calibrated", "estimated"]),
                            _connector="OR",
                        ),
                        name="session_peak_labelled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("usage_cache_read__isnull", True),
                                ("usage_cache_write__isnull", True),
                                ("usage_input__isnull", True),
                                ("usage_output__isnull", True),
                            ),
                            models.Q(
                                ("usage_cache_read__isnull", False),
                                ("usage_cache_write__isnull", False),
                                ("usage_input__isnull", False),
                                ("usage_output__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="session_usage_whole_or_none",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("worst_message__isnull", True), ("worst_overcount__isnull", True)),
                            models.Q(("worst_message__isnull", False), ("worst_overcount__isnull", False)),
                            _connector="OR",
                        ),
                        name="session_worst_names_message",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("parent__isnull", True),
                            models.Q(("parent", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="session_not_its_own_parent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchedSession",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="searched",
                        serialize=False,
                        to="agent_sessions.session",
                    ),
                ),
                ("rules", models.PositiveSmallIntegerField()),
                ("version", models.CharField(blank=True, max_length=16)),
                ("problem", models.CharField(blank=True, max_length=400)),
            ],
        ),
        migrations.CreateModel(
            name="SessionFacts",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="facts",
                        serialize=False,
                        to="agent_sessions.session",
                    ),
                ),
                ("packed", models.BinaryField()),
            ],
            options={
                "verbose_name_plural": "session facts",
            },
        ),
        migrations.CreateModel(
            name="SessionFigures",
            fields=[
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="figures",
                        serialize=False,
                        to="agent_sessions.session",
                    ),
                ),
                ("rules", models.PositiveSmallIntegerField(db_index=True)),
                ("agent", models.CharField(blank=True, db_index=True, max_length=60)),
                ("client", models.CharField(blank=True, db_index=True, max_length=160)),
                ("project", models.CharField(blank=True, db_index=True, max_length=255)),
                ("week", models.CharField(blank=True, db_index=True, max_length=8)),
                ("n_requests", models.PositiveIntegerField(default=0)),
                ("n_compactions", models.PositiveIntegerField(default=0)),
                ("n_false", models.PositiveIntegerField(default=0)),
                ("n_refused", models.PositiveIntegerField(default=0)),
                ("n_missed", models.PositiveIntegerField(default=0)),
                ("n_thrash", models.PositiveIntegerField(default=0)),
                ("n_overcounted", models.PositiveIntegerField(default=0)),
                ("tokens_again", models.PositiveBigIntegerField(default=0)),
                ("dollars", models.FloatField(blank=True, null=True)),
                ("dollars_above", models.FloatField(blank=True, null=True)),
                ("tried", models.JSONField(blank=True, default=list)),
            ],
            options={
                "verbose_name_plural": "session figures",
            },
        ),
        migrations.CreateModel(
            name="SessionKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField(db_index=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="keys", to="agent_sessions.session"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ColumnsRun",
            fields=[
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="columns_run",
                        serialize=False,
                        to="agent_sessions.session",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed")],
                        default="queued",
                        max_length=9,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state"], name="columns_run_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "done", "failed"])),
                        name="columns_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MediaUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(db_index=True, max_length=64)),
                ("offset", models.PositiveBigIntegerField()),
                ("n_chars", models.PositiveBigIntegerField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="media_uses",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "sha256"), name="media_use_once")],
            },
        ),
        migrations.CreateModel(
            name="AnswerUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answer_uses",
                        to="agent_sessions.session",
                    ),
                ),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uses",
                        to="agent_sessions.modelanswer",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("session", "answer"), name="answer_use_once")],
            },
        ),
        migrations.CreateModel(
            name="ReplayLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                (
                    "view",
                    models.CharField(
                        choices=[("session", "Session"), ("replay", "Replay"), ("diff", "Diff")], max_length=8
                    ),
                ),
                ("state", models.TextField(blank=True)),
                ("title", models.CharField(blank=True, max_length=255)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("password", models.CharField(blank=True, max_length=128)),
                ("left_in", models.JSONField(blank=True, default=list)),
                ("words", models.JSONField(blank=True, default=list)),
                ("moves", models.BooleanField(default=False)),
                ("takes_replies", models.BooleanField(default=False)),
                ("author", models.CharField(blank=True, max_length=60)),
                ("remarks", models.JSONField(blank=True, default=list)),
                ("version", models.CharField(blank=True, max_length=32)),
                ("n_views", models.PositiveIntegerField(default=0)),
                ("viewed_at", models.DateTimeField(blank=True, null=True)),
                ("results", models.BinaryField(blank=True, null=True)),
                ("prices", models.CharField(blank=True, max_length=16)),
                (
                    "maker",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="links",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "reply_to",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="agent_sessions.replaylink",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="links", to="agent_sessions.session"
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("view__in", ["session", "replay", "diff"])), name="link_view_known"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(choices=[("replay", "Replay"), ("ab", "A/B"), ("sweep", "Sweep")], max_length=8),
                ),
                ("state", models.TextField(blank=True)),
                ("name", models.CharField(max_length=120)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at", "-id"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["replay", "ab", "sweep"])), name="saved_kind_known"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchPart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("first", models.PositiveIntegerField()),
                ("stop", models.PositiveIntegerField()),
                ("live", models.BooleanField(default=True)),
                ("prints", models.BinaryField()),
                ("places", models.BinaryField()),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="search_parts",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("stop"))), name="search_part_not_empty"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SessionColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
                ("key", models.CharField(max_length=64)),
                ("data", models.BinaryField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="columns",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "session columns",
                "constraints": [models.UniqueConstraint(fields=("session", "name"), name="session_columns_once")],
            },
        ),
        migrations.CreateModel(
            name="SummaryJob",
            fields=[
                ("claims", models.PositiveIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=300)),
                ("beats", models.PositiveIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField()),
                ("phase", models.CharField(blank=True, max_length=20)),
                ("ending", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "purpose",
                    models.CharField(
                        choices=[("summaries", "Summaries"), ("judgement", "Judgement")],
                        default="summaries",
                        max_length=9,
                    ),
                ),
                ("options", models.JSONField(default=dict)),
                ("query", models.TextField(blank=True)),
                ("model", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("writing", "Writing"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("n_written", models.PositiveIntegerField(default=0)),
                ("n_total", models.PositiveIntegerField()),
                ("n_chars", models.PositiveIntegerField(default=0)),
                ("cancel_asked", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="summary_jobs",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "ordering": ("-created_at",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "writing", "done", "failed", "cancelled"])),
                        name="writing_state_known",
                    )
                ],
            },
        ),
        migrations.RunPython(make_search_table, migrations.RunPython.noop),
    ]
