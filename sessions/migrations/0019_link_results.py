"""What a link showed when it was made, and at which prices."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0018_link_replies"),
    ]

    operations = [
        migrations.AddField(
            model_name="replaylink",
            name="prices",
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.AddField(
            model_name="replaylink",
            name="results",
            field=models.BinaryField(blank=True, null=True),
        ),
    ]
