"""The programs of the pack templates/masstimes, which find mass times on web sites of parishes."""
