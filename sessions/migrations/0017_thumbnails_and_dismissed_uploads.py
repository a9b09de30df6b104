"""Images have thumbnails, made as they are asked for; a row leaves the list of uploads when it is dismissed."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0016_people_and_tokens")]

    operations = [
        migrations.AddField("media", "thumbnail", models.BinaryField(null=True, editable=False)),
        migrations.AddField("upload", "dismissed", models.BooleanField(default=False)),
    ]
