#!/bin/sh
# Make RabbitMQ available to the tests: install the package on Debian and Ubuntu, or find a container engine.
# The script starts and enables no system service. The tests start their own broker on free ports in a temporary folder.
set -eu

SERVER=/usr/lib/rabbitmq/bin/rabbitmq-server
POLICY=/usr/sbin/policy-rc.d
IMAGE=${SLUICE_RABBITMQ_IMAGE:-rabbitmq:3.13-management}

say() { printf '%s\n' "install-rabbitmq: $*"; }

if [ -x "$SERVER" ]; then
    say "$SERVER is already installed"
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
    # Packages ask policy-rc.d before they start their service. Exit status 101 forbids the start.
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
        say "apt-get succeeded, but $SERVER does not exist: check the package rabbitmq-server"
        exit 1
    fi
    say "installed $SERVER without starting its service"
    exit 0
fi

for engine in docker podman; do
    if command -v "$engine" >/dev/null 2>&1 && "$engine" info >/dev/null 2>&1; then
        say "$engine works: the tests will run $IMAGE in a container with ports on 127.0.0.1, and remove it"
        exit 0
    fi
done

say "RabbitMQ is not installed: this needs Debian or Ubuntu with root or sudo, or a running docker or podman." >&2
say "Ask an administrator to install rabbitmq-server, or start a container engine. Then repeat the command." >&2
exit 1
