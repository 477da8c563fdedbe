#!/bin/bash
# Create images for the conformance tests on machines that cannot pull images: conformance-images.sh SUITE FOLDER.
# A small Debian with Python replaces every image that the suite names. Podman stores it in FOLDER, separate from the
# user's images. The script prints the variables by which Podman finds the image. It needs root. The next run reuses
# the image.
set -euo pipefail
suite=$(cd "${1:?"the folder of the suite is missing: give it as the first argument"}" && pwd)
folder=${2:?"the folder for the images is missing: give it as the second argument"}
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
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' "$folder/images" "$folder/run" \
  > "$folder/storage.conf"
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
images=$(grep -rhoE 'dockerPull"?: *"?[A-Za-z0-9][^", }]*' "$suite" --include='*.cwl' --include='*.json' |
  tr -d '\r' | sed 's/.*[ "]//' | sort -u)
shell=localhost/conformance-shell:1
if ! podman image exists "$shell"; then
  container=$(podman create "$image" true)
  entrypoint='["sh", "-c", "case $0 in -*) exec bash \"$0\" \"$@\" ;; esac; exec \"$0\" \"$@\""]'
  podman commit --quiet --change "ENTRYPOINT $entrypoint" "$container" "$shell" >&2
  podman rm "$container" >&2
fi
for name in $images; do
  case $name in
    *bash:*) podman tag "$shell" "$name" ;; # a test needs an image with an entrypoint
    *) podman tag "$image" "$name" ;;
  esac
done
echo "CONTAINERS_CONF=$CONTAINERS_CONF CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF" \
  "CONTAINERS_REGISTRIES_CONF=$CONTAINERS_REGISTRIES_CONF"
