"""What recipients may do with a link, their replies, notes on messages, and the version that made it."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0017_thumbnails_and_dismissed_uploads"),
    ]

    operations = [
        migrations.AddField(
            model_name="replaylink",
            name="author",
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="moves",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="remarks",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="reply_to",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="replies",
                to="agent_sessions.replaylink",
            ),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="takes_replies",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="version",
            field=models.CharField(blank=True, max_length=32),
        ),
    ]
