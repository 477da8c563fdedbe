#!/usr/bin/env bash
# What the tests need beside Python packages: RabbitMQ, Chromium for the web page, and libfaketime for clocks that jump.
set -euo pipefail
cd "$(dirname "$0")"
./install-rabbitmq.sh
./install-chromium.sh
./install-faketime.sh
