"""The first schema: every table is created whole, in the order of its references."""

from __future__ import annotations

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("sha256", models.CharField(max_length=64, unique=True)),
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
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
            options={
                "ordering": ("-created_at", "id"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["queued", "reading", "done", "failed"])),
                        name="upload_status_known",
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
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "upload",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="job", to="agent_sessions.upload"
                    ),
                ),
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
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=255)),
                ("heartbeat_at", models.DateTimeField()),
                ("error", models.TextField(blank=True)),
            ],
            options={
                "indexes": [models.Index(fields=["state", "heartbeat_at"], name="job_state_heartbeat")],
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
            name="Session",
            fields=[
                ("id", models.CharField(max_length=16, primary_key=True, serialize=False)),
                (
                    "upload",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sessions", to="agent_sessions.upload"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("native_id", models.CharField(blank=True, max_length=255)),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="children",
                        to="agent_sessions.session",
                    ),
                ),
                ("title", models.CharField(blank=True, max_length=255)),
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
                ("created_at", models.DateTimeField(auto_now_add=True, db_index=True)),
            ],
            options={
                "ordering": ("-created_at", "position"),
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
            name="MessageRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="agent_sessions.session",
                    ),
                ),
                ("index", models.PositiveIntegerField()),
                ("role", models.CharField(max_length=10)),
                ("kinds", models.CharField(blank=True, max_length=80)),
                ("preview", models.CharField(blank=True, max_length=255)),
                ("wire_bytes", models.PositiveBigIntegerField()),
                ("pressure_bytes", models.PositiveBigIntegerField()),
                ("tokens", models.PositiveBigIntegerField()),
                (
                    "label",
                    models.CharField(
                        choices=[("measured", "Measured"), ("calibrated", "Calibrated"), ("estimated", "Estimated")],
                        max_length=10,
                    ),
                ),
                ("overcount", models.FloatField(blank=True, null=True)),
                ("context_tokens", models.PositiveBigIntegerField(blank=True, null=True)),
                ("request", models.PositiveIntegerField(blank=True, null=True)),
                ("flags", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "ordering": ("session_id", "index"),
                "constraints": [
                    models.UniqueConstraint(fields=("session", "index"), name="message_index_once"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ("user", "assistant", "system"))), name="message_role_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("label__in", ["measured", "calibrated", "estimated"])),
                        name="message_tokens_labelled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("context_tokens__isnull", True), ("request__isnull", False), _connector="OR"
                        ),
                        name="message_context_has_request",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Media",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("media_type", models.CharField(max_length=100)),
                ("n_bytes", models.PositiveBigIntegerField()),
                ("width", models.PositiveIntegerField(default=0)),
                ("height", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "media",
            },
        ),
        migrations.CreateModel(
            name="ReplayLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="links", to="agent_sessions.session"
                    ),
                ),
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
                ("n_views", models.PositiveIntegerField(default=0)),
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
    ]
