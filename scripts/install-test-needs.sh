#!/usr/bin/env bash
# What the tests need beside Python packages: RabbitMQ, Chromium for the web page, node.js for expressions, bubblewrap and
# slirp4netns for the sandbox, Podman with runc and busybox for containers, fonts for scans, and libfaketime for clocks that jump.
set -euo pipefail
cd "$(dirname "$0")"
./install-rabbitmq.sh
./install-package.sh chromium "the tests of the web page" /usr/bin/chromium
./install-package.sh nodejs "the tests of expressions" node nodejs
./install-package.sh bubblewrap "the tests of the sandbox" bwrap
./install-package.sh slirp4netns "the tests of the sandbox" slirp4netns
./install-package.sh podman "the tests of containers" podman
./install-package.sh runc "the tests of containers" runc
./install-package.sh busybox-static "the tests of containers" busybox
./install-fonts.sh
./install-faketime.sh
