from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0014_link_terms"),
    ]

    operations = [
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
    ]
