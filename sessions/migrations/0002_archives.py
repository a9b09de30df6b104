"""Archives: their members, where a member's text lies, families across files; what became of a file's bytes."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="home_id",
            field=models.CharField(blank=True, db_index=True, max_length=255),
        ),
        migrations.AddField(
            model_name="session",
            name="member",
            field=models.CharField(blank=True, max_length=1100),
        ),
        migrations.AddField(
            model_name="session",
            name="parent_call_id",
            field=models.CharField(blank=True, max_length=255),
        ),
        migrations.AddField(
            model_name="session",
            name="prompt_hash",
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.AddField(
            model_name="session",
            name="spawns",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="session",
            name="text_sha256",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="upload",
            name="fates",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AlterField(
            model_name="session",
            name="native_id",
            field=models.CharField(blank=True, db_index=True, max_length=255),
        ),
        migrations.AlterField(
            model_name="session",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="children",
                to="agent_sessions.session",
            ),
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(blank=True, max_length=1100)),
                ("n_bytes", models.PositiveBigIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[("read", "Read"), ("other", "Other"), ("failed", "Failed")], max_length=6
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
                        condition=models.Q(("status__in", ["read", "other", "failed"])), name="member_status_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "read"), models.Q(("error", ""), _negated=True), _connector="OR"),
                        name="member_unread_says_why",
                    ),
                ],
            },
        ),
    ]
