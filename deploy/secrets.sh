#!/usr/bin/env bash
# Makes what is missing of deploy/secrets/: a random password for each login, and the files that docker-compose.yml mounts.
# What is there stays as it is. The folder is closed to others; the files in it are readable, because a container's user,
# who has another number than you, reads them.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-secrets}
umask 022
mkdir -p "$folder"
chmod 700 "$folder"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# keep NAME TEXT: written whole or not at all.
keep() {
  if [ ! -e "$folder/$1" ]; then
    printf '%s\n' "$2" >"$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
    echo "made $folder/$1"
  fi
}

keep postgres_password "$(random)"
keep sluice_setup_admin_url "postgresql://postgres:$(cat "$folder/postgres_password")@postgres:5432/postgres"
keep sluice_setup_backup_url "postgresql://sluice_backup:$(random)@postgres:5432/postgres"

keep rabbitmq_administrator "default_user = administrator
default_pass = $(random)"
administrator=$(sed -n 's/^default_pass = //p' "$folder/rabbitmq_administrator")
keep sluice_setup_management_url "http://administrator:$administrator@rabbitmq:15672"

for service in operator dms wms chains watcher intake ask; do
  keep "sluice_${service}_database_url" "postgresql://sluice_$service:$(random)@postgres:5432/sluice_$service"
  keep "sluice_${service}_broker_url" "amqp://sluice_$service:$(random)@rabbitmq:5672/sluice"
done
keep sluice_operator_secret_key "$(random)"
# The system's own token: an administrator who needs no account. It begins as all tokens of people do.
keep sluice_operator_admin_token "sluice_$(random)"
# What secrets of tools are encrypted with: a Fernet key, 32 bytes in URL-safe Base64.
keep sluice_encryption_keys "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')"
# What pilots register with, and what signs those that they then get; what Prometheus reads metrics with.
keep sluice_wms_pilot_token "$(random)"
keep sluice_wms_pilot_keys "$(random)"
keep sluice_metrics_token "$(random)"
# By which services prove who they are (Ed25519): NAME.key for the service, NAME.pub for all. The public one is there first.
for service in operator dms wms chains watcher intake ask; do
  if [ ! -e "$folder/$service.key" ]; then
    openssl genpkey -algorithm ed25519 -out "$folder/$service.key.new"
    openssl pkey -in "$folder/$service.key.new" -pubout -out "$folder/$service.pub"
    chmod 644 "$folder/$service.key.new" # OpenSSL closes it to all others; the folder does that here
    mv "$folder/$service.key.new" "$folder/$service.key"
    echo "made $folder/$service.key"
  fi
done
keep grafana_password "$(random)"
