"""Commands about chains: their start, progress, results, statistics and notices."""
