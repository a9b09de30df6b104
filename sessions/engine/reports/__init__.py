"""Documents of a session that go out: the report and the exports."""
