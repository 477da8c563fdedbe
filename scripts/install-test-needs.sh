#!/usr/bin/env bash
# What the tests need beside Python packages: RabbitMQ, and Chromium for the web page.
set -euo pipefail
cd "$(dirname "$0")"
./install-rabbitmq.sh
./install-chromium.sh
