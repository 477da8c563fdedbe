#!/usr/bin/env bash
# Install a package of Debian or Ubuntu that the tests need, unless one of its programs or files exists:
# install-package.sh PACKAGE PURPOSE PROGRAM-OR-FILE…
set -euo pipefail
package=$1 needed_by=$2
shift 2
for program in "$@"; do
  if command -v "$program" >/dev/null || [ -e "$program" ]; then exit 0; fi
done
if ! command -v apt-get >/dev/null; then
  echo "$needed_by need $1: install it with this system's package manager" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "$needed_by need $1: ask an administrator for 'apt-get install --no-install-recommends $package'" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq -y --no-install-recommends "$package" >/dev/null
