from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """What is stored lies apart, and nobody has looked where it stands; what is stored from now on need not."""

    dependencies = [
        ("agent_sessions", "0026_library_at_scale"),
    ]

    operations = [
        migrations.AddField(model_name="media", name="apart", field=models.BooleanField(default=True)),
        migrations.AlterField(model_name="media", name="apart", field=models.BooleanField(default=False)),
        migrations.AddField(model_name="mediause", name="offset", field=models.PositiveBigIntegerField(null=True)),
        migrations.AddField(model_name="mediause", name="n_chars", field=models.PositiveBigIntegerField(null=True)),
    ]
