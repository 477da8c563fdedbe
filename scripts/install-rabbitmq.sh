#!/bin/sh
# Puts RabbitMQ at the tests' disposal: the distribution's package on Debian and Ubuntu, otherwise a container engine.
# No system service is started or enabled; the tests start their own broker on free ports in a temporary folder.
set -eu

SERVER=/usr/lib/rabbitmq/bin/rabbitmq-server
POLICY=/usr/sbin/policy-rc.d
IMAGE=${SLUICE_RABBITMQ_IMAGE:-rabbitmq:3.13-management}

say() { printf '%s\n' "install-rabbitmq: $*"; }

if [ -x "$SERVER" ]; then
    say "already installed: $SERVER"
    exit 0
fi

as_root=none
if [ "$(id -u)" = 0 ]; then
    as_root=''
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
fi

restore_policy() {
    if [ -n "$saved" ]; then
        $as_root mv -f "$saved" "$POLICY"
    else
        $as_root rm -f "$POLICY"
    fi
}

install_package() {
    # Packages ask policy-rc.d before they start their service; 101 means no.
    saved=''
    if [ -e "$POLICY" ]; then
        saved="$POLICY.before-rabbitmq"
        $as_root cp -p "$POLICY" "$saved"
    fi
    trap restore_policy EXIT
    trap 'exit 130' INT TERM
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$POLICY" >/dev/null
    $as_root chmod 755 "$POLICY"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends rabbitmq-server
    if [ -d /run/systemd/system ]; then
        $as_root systemctl disable --quiet rabbitmq-server.service
    fi
}

if [ "$as_root" != none ] && command -v apt-get >/dev/null 2>&1; then
    install_package
    if [ ! -x "$SERVER" ]; then
        say "apt-get finished, but $SERVER is not there"
        exit 1
    fi
    say "installed: $SERVER (no service was started)"
    exit 0
fi

for engine in docker podman; do
    if command -v "$engine" >/dev/null 2>&1 && "$engine" info >/dev/null 2>&1; then
        say "$engine works: the tests will run the image $IMAGE in a container, with ports on 127.0.0.1, and remove it afterwards"
        exit 0
    fi
done

say "RabbitMQ is not installed and cannot be: this needs Debian or Ubuntu with root or passwordless sudo, or a running docker or podman." >&2
say "Ask an administrator for the package rabbitmq-server, or start a container engine, and run this again." >&2
exit 1
