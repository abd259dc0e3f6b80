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
    local log
    log=$(mktemp)
    if "$root/Tools/labcard" run --private -- swift test "$@" 2>&1 | tee "$log"; then
        slowest "$log"
        rm -f "$log"
    else
        say "what failed:"
        grep -A 8 -E 'recorded an issue|error:|SUMMARY: ' "$log" | head -n 200 >&2 || true
        rm -f "$log"
        return 1
    fi
}

# build_tests: builds all tests.
build_tests() {
    need_swift
    # Otherwise a module could import any other that is already built, whatever Package.swift says.
    swift build --build-tests "${test_build[@]}" --explicit-target-dependency-import-check error
}

# slowest LOG: prints the ten slowest tests, from the output of `swift test`. Tests run in parallel and may wait for each other.
slowest() {
    say "the slowest tests, in seconds:"
    sed -nE 's/^. Test (.*) passed after ([0-9.]+) seconds\.$/\2 \1/p' "$1" | sort -rn | sed -n 1,10p >&2
}
