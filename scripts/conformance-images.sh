#!/bin/bash
# Images for the conformance tests where none can be pulled: conformance-images.sh SUITE FOLDER. A small Debian with Python, made
# of Debian's packages, stands in for every image that the suite names; Podman keeps it below FOLDER, away from the user's own.
# Prints the variables by which Podman finds it. Needs root. Once made, it is used again.
set -euo pipefail
suite=$(cd "${1:?"say where the suite is"}" && pwd)
folder=${2:?"say where the images belong"}
here=$(cd "$(dirname "$0")" && pwd)
for package in debootstrap podman runc; do
  "$here/install-package.sh" "$package" "images for the conformance tests" "$package" >&2
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cat > "$folder/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
END
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$folder/images" "$folder/run" > "$folder/storage.conf"
: > "$folder/registries.conf"
export CONTAINERS_CONF=$folder/containers.conf CONTAINERS_STORAGE_CONF=$folder/storage.conf
export CONTAINERS_REGISTRIES_CONF=$folder/registries.conf
image=localhost/conformance:1
if ! podman image exists "$image"; then
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get indextargets --format '$(URI)' | sed -n '1s#/dists/.*##p')
  rm -rf "$folder/tree"
  debootstrap --variant=minbase --include=python3 "$release" "$folder/tree" "$mirror" >&2
  ln -sf python3 "$folder/tree/usr/bin/python"
  tar -C "$folder/tree" -c --exclude=./var/cache/apt --exclude=./var/lib/apt/lists --exclude=./usr/share/doc . |
    podman import --quiet - "$image" >&2
  rm -rf "$folder/tree"
fi
named=$(grep -rhoE 'dockerPull"?: *"?[A-Za-z0-9][^", }]*' "$suite" --include='*.cwl' --include='*.json' | tr -d '\r' | sed 's/.*[ "]//' | sort -u)
shell=localhost/conformance-shell:1
if ! podman image exists "$shell"; then
  container=$(podman create "$image" true)
  begin='["sh", "-c", "case $0 in -*) exec bash \"$0\" \"$@\" ;; esac; exec \"$0\" \"$@\""]'
  podman commit --quiet --change "ENTRYPOINT $begin" "$container" "$shell" >&2
  podman rm "$container" >&2
fi
for name in $named; do
  case $name in
    *bash:*) podman tag "$shell" "$name" ;; # a test of what an image begins with by itself
    *) podman tag "$image" "$name" ;;
  esac
done
echo "CONTAINERS_CONF=$CONTAINERS_CONF CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF" \
  "CONTAINERS_REGISTRIES_CONF=$CONTAINERS_REGISTRIES_CONF"
