"""From a transcript to a weighed one: calibration and sizes."""
