# Sourced by Tools/test and Tools/Programs/places, after common.sh: runs the tests of the package.

# The programs that some of the tests run, besides those that Tools/labcard and Tools/desktop install themselves.
suite_packages=("${build_packages[@]}" gcc make python3 alsa-utils sox ffmpeg opus-tools mpv vlc-bin vlc-plugin-base tmux man-db groff zsh fish gstreamer1.0-tools
    gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-alsa dbus-daemon python3-dbusmock chromium chromium-driver icecast2
    nats-server openssl prometheus systemd avahi-daemon iproute2 nftables libevdev2 libgpiod-dev playerctl
    musepack-tools bzip2 xz-utils)

# After a crash the run must end, without a backtracer that holds its output.
export SWIFT_BACKTRACE=enable=no
export TENFOUR_LABCARD=1

# The names of the tests in real time, as a regular expression.
real_time_tests() { python3 "$root/Tools/Programs/real_time_tests.py" "$root" "$root/.build-tests"; }

# suite [OPTION…]: runs the tests on labcard, with wires of their own and with options of `swift test`. Without options it takes
# what build_tests has built, and runs the tests in real time beside the others. Tests that fail run up to $attempts times.
suite() {
    local apart=() real_time
    if (($# == 0)); then
        set -- --skip-build "${test_build[@]}"
        real_time=$(real_time_tests)
        apart=(--real-time "$real_time")
    fi
    TENFOUR_TOOL=$tool python3 "$root/Tools/Programs/suite.py" "${apart[@]}" --attempts "${attempts:-1}" --begin $((EPOCHSECONDS - SECONDS)) \
        "$root/Tools/labcard" run --private -- swift test "$@"
}

# build_tests: builds all tests.
build_tests() {
    need_swift
    # Otherwise a module could import any other that is already built, whatever Package.swift says.
    swift build --build-tests "${test_build[@]}" --explicit-target-dependency-import-check error
}
