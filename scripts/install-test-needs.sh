#!/usr/bin/env bash
# Install what the tests need besides Python packages. If that is impossible, name everything that is missing.
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
# Without root, Podman maps users with the programs of uidmap.
[ "$(id -u)" -eq 0 ] || need ./install-package.sh uidmap "the tests of containers" newuidmap
need ./install-package.sh runc "the tests of containers" runc
need ./install-package.sh busybox-static "the tests of containers" busybox
need ./install-fonts.sh
need ./install-faketime.sh
[ "$complete" = yes ]
