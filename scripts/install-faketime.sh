#!/bin/sh
# Make libfaketime available to the fault suite, which changes clocks with it. If it is not installed, unpack Debian's
# package into var/faketime. The script needs no root and does not change the system.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "install-faketime: $*"; }

for library in /usr/lib/*/faketime/libfaketimeMT.so.1 var/faketime/usr/lib/*/faketime/libfaketimeMT.so.1; do
    if [ -e "$library" ]; then
        say "$library is already installed"
        exit 0
    fi
done

if ! command -v apt-get >/dev/null 2>&1; then
    say "this system has no apt-get: install libfaketime as /usr/lib/*/faketime/libfaketimeMT.so.1" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
(cd "$folder" && apt-get download -q libfaketime)
mkdir -p var/faketime
dpkg -x "$folder"/libfaketime_*.deb var/faketime
say "unpacked $(ls var/faketime/usr/lib/*/faketime/libfaketimeMT.so.1)"
