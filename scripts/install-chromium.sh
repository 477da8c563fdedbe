#!/usr/bin/env bash
# Chromium for the tests of the web page: Debian's or Ubuntu's package, unless there is one.
set -euo pipefail
if [ -x /usr/bin/chromium ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
  echo "the tests of the web page need Chromium at /usr/bin/chromium: install it with this system's package manager" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "the tests of the web page need Chromium: ask an administrator for 'apt-get install --no-install-recommends chromium'" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq -y --no-install-recommends chromium >/dev/null
