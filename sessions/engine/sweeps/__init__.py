"""Replays over a grid of settings: the front, the recommendation, the regret."""
