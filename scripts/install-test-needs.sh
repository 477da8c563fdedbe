#!/usr/bin/env bash
# Installs what the tests need beside Python packages, or names all of it that is missing: RabbitMQ, Chromium for the web page,
# node.js for expressions, bubblewrap, slirp4netns and the kernel's headers for the sandbox, Podman with runc and busybox for
# containers, fonts for scans, and libfaketime for clocks that jump.
set -euo pipefail
cd "$(dirname "$0")"
complete=yes
need() { "$@" || complete=no; }
need ./install-rabbitmq.sh
need ./install-package.sh chromium "the tests of the web page" /usr/bin/chromium
need ./install-package.sh nodejs "the tests of expressions" node nodejs
need ./install-package.sh bubblewrap "the tests of the sandbox" bwrap
need ./install-package.sh slirp4netns "the tests of the sandbox" slirp4netns
need ./install-package.sh linux-libc-dev "the tests of the sandbox" /usr/include/asm-generic/unistd.h
need ./install-package.sh podman "the tests of containers" podman
# Podman of an ordinary user maps users by these.
[ "$(id -u)" -eq 0 ] || need ./install-package.sh uidmap "the tests of containers" newuidmap
need ./install-package.sh runc "the tests of containers" runc
need ./install-package.sh busybox-static "the tests of containers" busybox
need ./install-fonts.sh
need ./install-faketime.sh
[ "$complete" = yes ]
