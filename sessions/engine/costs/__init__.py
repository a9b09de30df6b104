"""What requests cost: prices, caching, totals."""
