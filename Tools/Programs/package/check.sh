# Sourced by Tools/package: the rows of one release.

# check_release RELEASE: tries the package in .build-deb/RELEASE in both roots of the release, with files and an HTTP server of
# this machine. Prints the rows.
check_release() {
    local release=$1 packages=("$root/.build-deb/$1"/*.deb) files=$root/.build-deb/$1/check status=0
    need ffmpeg python3
    mkdir -p "$files" &&
        ffmpeg -v error -y -f lavfi -i sine=frequency=440:sample_rate=48000:duration=5 -b:a 128k "$files/song.mp3" &&
        ffmpeg -v error -y -f lavfi -i sine=frequency=440:sample_rate=48000:duration=5 "$files/tone.wav" &&
        cp "$root/Tests/TestSupport/Corpus/capture/talk.pcap" "$files/" || return 1
    # Port 0 is any free port; the server prints which one.
    python3 -u -m http.server -d "$files" -b 127.0.0.1 0 >"$files/server.log" 2>&1 &
    local server=$!
    trap 'kill "$server" 2>/dev/null || true' EXIT
    until grep -q 'port [0-9]' "$files/server.log"; do
        kill -0 "$server" || return 1
        sleep 0.1
    done
    local port
    port=$(grep -oE 'port [0-9]+' "$files/server.log" | head -n 1 | tr -dc 0-9)
    echo "$release: ${packages[0]##*/}"
    in_root "$release" Tools/Programs/package/check-built "${packages[0]#"$root/"}" "${files#"$root/"}" || status=1
    in_root "$release" --bare Tools/Programs/package/check-bare "${packages[0]#"$root/"}" "${files#"$root/"}" "$port" "$version" ||
        status=1
    kill "$server"
    trap - EXIT
    return $status
}
