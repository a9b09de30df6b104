"""Jobs that have a model write the summaries of a replay."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0005_model_answers"),
    ]

    operations = [
        migrations.CreateModel(
            name="SummaryJob",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
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
                ("error", models.TextField(blank=True)),
                ("cancel_asked", models.BooleanField(default=False)),
                ("heartbeat_at", models.DateTimeField()),
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
    ]
