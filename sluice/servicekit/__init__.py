"""Building blocks that all services of Sluice share."""
