"""Branches that rewinds left, and what a resumed or forked session shares with an earlier one."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0003_live_sources"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="branch",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="session",
            name="branch_of",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="branches",
                to="agent_sessions.session",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="n_shared_images",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="n_shared_messages",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="n_shared_requests",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="shared_tokens",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="shared_usage",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="session",
            name="shared_wire_bytes",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="session",
            name="shares_with",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="shared_by",
                to="agent_sessions.session",
            ),
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
    ]
