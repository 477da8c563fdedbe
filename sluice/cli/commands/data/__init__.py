"""Commands about data sets, periods, detector runs and storages."""
