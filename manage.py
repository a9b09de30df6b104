#!/usr/bin/env python
"""Django's command-line utility for ctxweb."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")
    from django.core.management import execute_from_command_line

    from ctxweb.env import SettingError

    try:
        execute_from_command_line(sys.argv)
    except SettingError as error:
        error.show()
        sys.exit(error.exit_code)
