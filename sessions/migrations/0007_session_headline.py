"""What the library says of a session: the headline of its verdicts, and the cause where a counter was wrong."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0006_summary_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="headline",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="session",
            name="wrong_cause",
            field=models.CharField(blank=True, max_length=60),
        ),
    ]
