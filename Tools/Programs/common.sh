# Sourced by the tools: paths, the installation of packages, and builds. Prints its steps on stderr.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
tool=$(basename -- "$0")

# The packages that the package itself is built from.
build_packages=(git pkg-config libopus-dev libasound2-dev libuv1-dev libogg-dev libspeexdsp-dev libsndfile1-dev libsodium-dev libsrtp2-dev libqrencode-dev
    libcurl4-openssl-dev libavformat-dev libavcodec-dev libavutil-dev libswresample-dev libcairo2-dev libsystemd-dev libmicrohttpd-dev libshout-dev libnats-dev libevdev-dev)

# The options of the builds that tests and documentation use: optimized, since the tests compute much, and apart from .build, so that
# `swift build` and `swift test` by hand build nothing anew. Without information for debuggers, which takes the compiler long;
# with an index, which says who uses a declaration (Tools/Programs/unreached.py).
test_build=(-c release -Xswiftc -enable-testing -debug-info-format none --enable-index-store --scratch-path "$root/.build-tests")

# -y, or --yes, before a -- is for `need` below, and removed from the arguments of the tool that sources this file.
assume_yes=
others=()
while (($#)) && [[ $1 != -- ]]; do
    case $1 in
    -y | --yes) assume_yes=yes ;;
    *) others+=("$1") ;;
    esac
    shift
done
set -- "${others[@]}" "$@"

say() { printf '%s: %s\n' "$tool" "$*" >&2; }

fail() {
    say "$*"
    exit 1
}

# need PACKAGE…: installs the missing Debian packages. If standard input is a terminal, it lists them and asks first, unless -y
# was given.
need() {
    local missing=() package
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    command -v apt-get >/dev/null || fail "these packages are missing, by their names in Debian: ${missing[*]}"
    local as_root=()
    if ((EUID)); then
        command -v sudo >/dev/null || fail "these Debian packages are missing: as root, apt-get install ${missing[*]}"
        # sudo clears the environment.
        as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
    fi
    if [[ ! $assume_yes && -t 0 ]]; then
        local answer
        say "these Debian packages are missing: ${missing[*]}"
        read -rp "$tool: install them with apt-get now? [Y/n] " answer || answer=n
        [[ ${answer:-y} == [yY]* ]] || fail "nothing was installed"
    fi
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! DEBIAN_FRONTEND=noninteractive install_with "${as_root[@]}" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        fail "that did not work; the lines above say why"
    fi
    rm -f "$log"
}

# On a fresh machine the package lists are empty or old, so they are updated if the first attempt fails. It waits for another
# installation to end.
install_with() {
    local install=("$@" apt-get -o DPkg::Lock::Timeout=600 install -qy --no-install-recommends "${missing[@]}")
    "${install[@]}" || { "$@" apt-get -o DPkg::Lock::Timeout=600 update -q && "${install[@]}"; }
}

need_swift() {
    command -v swift >/dev/null || fail "Swift 6.2 or later is missing: see https://www.swift.org/install/linux/"
}

# help_if_built PRODUCT ARGUMENT…: if only help is requested and the program was built before, prints the help without building.
help_if_built() {
    local program=$root/.build/release/$1
    shift
    case $* in
    -h | --help | help) [[ ! -x $program ]] || exec "$program" --help ;;
    --help-all) [[ ! -x $program ]] || exec "$program" --help-all ;;
    esac
}

# Prints the version that the sources name.
project_version() {
    sed -nE 's/.*static let number = "([0-9.]+)"$/\1/p' "$root/Sources/Command/tenfour/Tenfour.swift" | grep . ||
        fail "Sources/Command/tenfour/Tenfour.swift names no version"
}

# build PRODUCT…: builds in release mode. Shows the compiler's output only if it fails.
build() {
    need_swift
    local product log
    log=$(mktemp)
    for product in "$@"; do
        [[ -x $root/.build/release/$product ]] || say "building $product, which takes a few minutes the first time"
        if ! swift build --package-path "$root" -c release --product "$product" >"$log" 2>&1; then
            cat "$log" >&2
            rm -f "$log"
            fail "$product does not build"
        fi
    done
    rm -f "$log"
}
