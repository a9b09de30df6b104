"""Jobs and answers of a model as judge."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0009_saved_views"),
    ]

    operations = [
        migrations.AddField(
            model_name="summaryjob",
            name="purpose",
            field=models.CharField(
                choices=[("summaries", "Summaries"), ("judgement", "Judgement")], default="summaries", max_length=9
            ),
        ),
        migrations.AlterField(
            model_name="modelanswer",
            name="kind",
            field=models.CharField(
                choices=[("count", "count"), ("summary", "summary"), ("judgement", "judgement")], max_length=10
            ),
        ),
    ]
