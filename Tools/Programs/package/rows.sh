# Sourced by the checks of the package, after common.sh: rows that pass or fail.

failures=0

# row NAME COMMAND…: runs a command or function and prints whether it passed, with the last line of its output as the figure; all of
# its output if it failed.
row() {
    local name=$1 log status=0
    shift
    log=$(mktemp)
    # In the background, where `set -e` holds within the function.
    (set -e; "$@") >"$log" 2>&1 &
    wait $! || status=$?
    if ((status == 0)); then
        printf 'ok      %-22s %s\n' "$name" "$(tail -n 1 "$log")"
    else
        printf 'FAILED  %-22s status %d\n' "$name" "$status"
        tail -n 40 "$log" | sed 's/^/        /'
        failures=$((failures + 1))
    fi
    rm -f "$log"
}

# fails COMMAND…: succeeds if a command does not; `set -e` takes no notice of a "!".
fails() { if "$@"; then return 1; fi; }

megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'; }
