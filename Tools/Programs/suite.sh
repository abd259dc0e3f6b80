# Sourced by Tools/test and Tools/Programs/places, after common.sh: runs the tests of the package.

# The programs that some of the tests run, besides those that Tools/labcard and Tools/desktop install themselves.
suite_packages=("${build_packages[@]}" gcc make python3 alsa-utils sox ffmpeg opus-tools mpv vlc-bin vlc-plugin-base tmux man-db groff zsh fish gstreamer1.0-tools
    gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-alsa dbus-daemon python3-dbusmock chromium chromium-driver icecast2
    nats-server openssl prometheus systemd avahi-daemon iproute2 nftables libevdev2 libgpiod-dev playerctl
    musepack-tools)

# After a crash the run must end, without a backtracer that holds its output.
export SWIFT_BACKTRACE=enable=no
export TENFOUR_LABCARD=1

# suite [OPTION…]: runs the tests on labcard, with wires of their own and with options of `swift test`. Failures are listed
# again at the end, where they are easy to find. Without options it takes what build_tests has built.
suite() {
    (($#)) || set -- --skip-build "${test_build[@]}"
    local log status=0
    log=$(mktemp)
    "$root/Tools/labcard" run --private -- swift test "$@" 2>&1 | tee "$log" || status=1
    slowest "$log"
    if ((status)); then
        say "what failed:"
        grep -A 8 -E '^[^ ]* ?Test .* recorded an issue|error: |SUMMARY: ' "$log" | grep -vE '^[^ ]+ Test (case passing .*|.* (started|passed.*))\.$' |
            head -n 200 >&2 || true
    fi
    summary "$log"
    rm -f "$log"
    return $status
}

# summary LOG: lists the tests that were repeated or skipped, and prints the counts in one line, from the output of `swift test`.
summary() {
    local log=$1
    sed -nE 's/^Passed at (attempt .*)/\1/p; s/^[^ ]+ Test (.* skipped: .*)/\1/p' "$log" | while read -r line; do say "$line"; done
    say "$(count '^[^ ]+ Test [^ ]+\)( with [0-9]+ test cases)? passed after ' "$log") passed," \
        "$(count '^[^ ]+ Test [^ ]+\)( with [0-9]+ test cases)? failed after ' "$log") failed," \
        "$(count '^Passed at attempt ' "$log") repeated, $(count '^[^ ]+ Test .* skipped: ' "$log") skipped; $(((SECONDS + 30) / 60)) minutes"
}

count() { grep -cE -- "$1" "$2" || true; }

# build_tests: builds all tests.
build_tests() {
    need_swift
    # Otherwise a module could import any other that is already built, whatever Package.swift says.
    swift build --build-tests "${test_build[@]}" --explicit-target-dependency-import-check error
}

# slowest LOG: prints the ten slowest tests, from the output of `swift test`. Tests run in parallel and may wait for each other.
slowest() {
    say "the slowest tests, in seconds:"
    sed -nE 's/^[^ ]+ Test (.*) passed after ([0-9.]+) seconds\.$/\2 \1/p' "$1" | sort -rn | sed -n 1,10p >&2
}
