#!/bin/sh
# Permit the login of the backup to stream the WAL. PostgreSQL's image runs this script once, for a new data folder.
set -eu
echo "host replication sluice_backup all scram-sha-256" >>"$PGDATA/pg_hba.conf"
