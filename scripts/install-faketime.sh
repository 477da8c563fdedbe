#!/bin/sh
# Puts libfaketime at the fault suite's disposal, which makes clocks jump with it: Debian's package, unpacked below var/faketime
# unless it is installed. Needs no rights and changes nothing of the system.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "install-faketime: $*"; }

for library in /usr/lib/*/faketime/libfaketimeMT.so.1 var/faketime/usr/lib/*/faketime/libfaketimeMT.so.1; do
    if [ -e "$library" ]; then
        say "already there: $library"
        exit 0
    fi
done

if ! command -v apt-get >/dev/null 2>&1; then
    say "no apt-get here: install libfaketime by hand (its library belongs at /usr/lib/*/faketime/libfaketimeMT.so.1)" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
(cd "$folder" && apt-get download -q libfaketime)
mkdir -p var/faketime
dpkg -x "$folder"/libfaketime_*.deb var/faketime
say "unpacked: $(ls var/faketime/usr/lib/*/faketime/libfaketimeMT.so.1)"
