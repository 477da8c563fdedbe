"""Commands about data sets, periods, detector runs, storages and assets."""
