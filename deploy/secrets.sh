#!/usr/bin/env bash
# Create the missing files of deploy/secrets/, which docker-compose.yml mounts, with a random password for each login.
# Existing files stay unchanged. Only you can open the folder. Its files are readable for all, because the users of
# containers have other numbers than you.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-secrets}
umask 022
mkdir -p "$folder"
chmod 700 "$folder"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# keep NAME TEXT: create the file if it does not exist. An interrupted write leaves no incomplete file.
keep() {
  if [ ! -e "$folder/$1" ]; then
    printf '%s\n' "$2" >"$folder/$1.new"
    mv "$folder/$1.new" "$folder/$1"
    echo "created $folder/$1"
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
# This token belongs to an administrator without an account. It has the prefix of all tokens of people.
keep sluice_operator_admin_token "sluice_$(random)"
# This key encrypts the secrets of tools. It is a Fernet key: 32 bytes in URL-safe Base64.
keep sluice_encryption_keys "$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')"
# Pilots register with the first token. The WMS signs their own tokens with the key. Prometheus reads metrics with the
# last token.
keep sluice_wms_pilot_token "$(random)"
keep sluice_wms_pilot_keys "$(random)"
keep sluice_metrics_token "$(random)"
# Services authenticate with Ed25519 keys: the service has NAME.key, and all services have NAME.pub. The script writes
# NAME.pub first, so that it exists if NAME.key exists.
for service in operator dms wms chains watcher intake ask; do
  if [ ! -e "$folder/$service.key" ]; then
    openssl genpkey -algorithm ed25519 -out "$folder/$service.key.new"
    openssl pkey -in "$folder/$service.key.new" -pubout -out "$folder/$service.pub"
    chmod 644 "$folder/$service.key.new" # OpenSSL permits only its owner to read it, but containers must read it, too
    mv "$folder/$service.key.new" "$folder/$service.key"
    echo "created $folder/$service.key"
  fi
done
keep grafana_password "$(random)"
