"""Many sessions together: what each adds, and the sums by agent, version, model, project or week."""
