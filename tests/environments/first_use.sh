# Run the README's commands for a first use, then a warm worker, a sandboxed step and a workflow in one job.
# CLONE is a clone with its environment, and PLACE is a folder of the user. STEPS is the workflow of the last part.
set -eu
cd "$CLONE"
. .venv/bin/activate
export SLUICE_HOME="$PLACE/home" XDG_CONFIG_HOME="$PLACE/config" SLUICE_PILOT_CONTAINERS='[]'
mkdir -p "$PLACE/bin" "$PLACE/config"
cat > "$PLACE/bin/first-use-count" <<'PROGRAM'
#!/usr/bin/env python3
import sys
from sluice.warm import serve
def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        print(len(file.read().split()))
if __name__ == "__main__":
    serve(main)
PROGRAM
chmod 755 "$PLACE/bin/first-use-count"
export PATH="$PLACE/bin:$PATH"
texts=docs/tutorial/wordcount/texts
sluice --version
trap 'sluice down --now' EXIT
sluice up --detach --port 0
sluice run docs/tutorial/wordcount/workflow.cwl --input $texts/*.txt --out "$PLACE/words"
head -n 1 "$PLACE/words/counts.txt"
sluice run "$STEPS" --input $texts/*.txt --out "$PLACE/steps"
echo "lines: $(cat "$PLACE"/steps/total)"
sluice chain list
trap - EXIT
sluice down
