"""What was worked out of a session is kept beside it, for every process to read."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0020_full_text_search")]

    operations = [
        migrations.CreateModel(
            name="SessionColumns",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=20)),
                ("key", models.CharField(max_length=64)),
                ("data", models.BinaryField()),
                (
                    "session",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="columns",
                        to="agent_sessions.session",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "session columns",
                "constraints": [models.UniqueConstraint(fields=("session", "name"), name="session_columns_once")],
            },
        ),
    ]
