"""Answers of a model's API, kept so that nothing is asked twice."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0004_branches_and_shared_history"),
    ]

    operations = [
        migrations.CreateModel(
            name="ModelAnswer",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("kind", models.CharField(choices=[("count", "count"), ("summary", "summary")], max_length=10)),
                ("model", models.CharField(max_length=100)),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                ("text_sha256", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
    ]
