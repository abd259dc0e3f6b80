# Sourced by Tools/demo: the functions that the demos with running stations share.

# prepare NAME PROGRAM…: builds the programs, and sets `tenfour`, the folder `folder` for the demo NAME, the recordings `speech`,
# and the processes `started`, which are stopped at the end.
prepare() {
    need "${build_packages[@]}" alsa-utils
    build "${@:2}"
    tenfour=$root/.build/release/tenfour
    folder=$(mktemp -d "${TMPDIR:-/tmp}/tenfour-$1.XXXXXX")
    speech=(/usr/share/sounds/alsa/{Front,Rear,Side}_*.wav)
    [[ -e ${speech[0]} ]] || fail "there is no speech in /usr/share/sounds/alsa: run apt-get install --reinstall alsa-utils"
    started=()
    trap stop EXIT
}

# Ends the programs of the demo. Some have ended by themselves, and cannot be killed.
stop() {
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
}

# Writes the recordings to standard output, one after the other, without their headers of 44 bytes: raw LPCM of 48 kHz.
speak() {
    for recording in "${speech[@]}"; do tail -c +45 "$recording"; done
}

# make_channel HOSTS: makes the channel `demo` of the relays at these hosts, separated by commas. Writes its links to talk.link and
# listen.link, and the channel's line for a relay's configuration to channel.conf.
make_channel() {
    umask 077
    "$tenfour" channel new demo --relay "$1" >"$folder/channel" 2>/dev/null
    grep -m 1 -o 'tenfour://.*#talk-.*' "$folder/channel" >"$folder/talk.link"
    grep -m 1 -o 'tenfour://.*#listen-.*' "$folder/channel" >"$folder/listen.link"
    grep -m 1 -o 'channel demo .*' "$folder/channel" >"$folder/channel.conf"
}
