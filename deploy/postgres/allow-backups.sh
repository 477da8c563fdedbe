#!/bin/sh
# Run once by the image of PostgreSQL, when it makes its data folder: the login of the backup may stream.
set -eu
echo "host replication sluice_backup all scram-sha-256" >>"$PGDATA/pg_hba.conf"
