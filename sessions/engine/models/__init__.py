"""Models: windows and what each takes in one client."""
