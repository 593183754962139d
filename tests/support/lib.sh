# Shared by the scripts: where downloads are kept, and how the tools they need are installed.
# Everything is kept outside the clone, and made anew where it is missing.

CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/haft"

say() { printf '%s\n' "$*" >&2; }

# Installs once, under a name made from the content of what says what to install: prints the folder.
#   installed NAME LOCKFILE INSTALLER  — INSTALLER gets the empty folder and fills it
installed() {
  local name=$1 lock=$2 install=$3 folder
  folder="$CACHE/$name-$(sha256sum "$lock" | cut -c1-12)"
  if [ ! -e "$folder/.complete" ]; then
    say "installing $name (once, into $folder)"
    mkdir -p "$CACHE"
    (
      flock 9
      [ ! -e "$folder/.complete" ] || exit 0
      rm -rf "$folder" && mkdir -p "$folder" && "$install" "$folder" "$lock" >&2 && touch "$folder/.complete"
    ) 9>"$CACHE/.lock" || { say "installing $name failed"; return 1; }
  fi
  printf '%s\n' "$folder"
}

# A Python environment with what a requirements file pins: prints its folder.
tool_venv() { installed "venv-$1" "$2" install_venv; }

install_venv() { python3 -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"; }

# npm packages as a lock file pins them: prints the folder that has node_modules.
#   tool_npm NAME FOLDER_WITH_PACKAGE_JSON_AND_LOCK
tool_npm() { installed "npm-$1" "$2/package-lock.json" install_npm; }

install_npm() {
  cp "$(dirname "$2")"/package.json "$2" "$1"/ && (cd "$1" && npm ci --silent --no-audit --no-fund)
}
