# Sourced by Tools/demo: runs a relay, a talker and three listeners on this machine, in a channel with a new secret.

need "${build_packages[@]}" alsa-utils
build tenfour

tenfour=$root/.build/release/tenfour
folder=$(mktemp -d "${TMPDIR:-/tmp}/tenfour-relay.XXXXXX")
speech=(/usr/share/sounds/alsa/{Front,Rear,Side}_*.wav)
[[ -e ${speech[0]} ]] || fail "there is no speech in /usr/share/sounds/alsa: reinstall alsa-utils"

started=()
trap 'for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done' EXIT

port=$((20000 + RANDOM % 20000 / 2 * 2))
umask 077
"$tenfour" channel new demo --relay "127.0.0.1:$port" >"$folder/channel" 2>/dev/null
grep -m 1 -o 'tenfour://.*#talk-.*' "$folder/channel" >"$folder/talk.link"
grep -m 1 -o 'tenfour://.*#listen-.*' "$folder/channel" >"$folder/listen.link"
{
    echo "bind 127.0.0.1:$port"
    echo "name 127.0.0.1:$port"
    echo "status-socket $folder/status"
    grep -m 1 -o 'channel demo .*' "$folder/channel"
} >"$folder/relay.conf"

say "a relay on port $port carries the channel 'demo'; it has the keys to admit members, but cannot decrypt the audio"
"$tenfour" relay --config "$folder/relay.conf" &
relay=$!
started+=("$relay")
sleep 1

say "three listeners join with the listen link"
listeners=()
for name in bob carol dave; do
    "$tenfour" listen --link-file "$folder/listen.link" --name "$name" --oneshot -o "$folder/$name.wav" \
        >"$folder/$name.log" 2>&1 &
    listeners+=($!)
    started+=($!)
done
sleep 1

say "alice has the talk link, and speaks"
for recording in "${speech[@]}"; do tail -c +45 "$recording"; done |
    "$tenfour" send --link-file "$folder/talk.link" --name alice --input - -f S16_LE -r 48000 &
talker=$!
started+=("$talker")
sleep 2
"$tenfour" relay status --socket "$folder/status"
wait "$talker"
for listener in "${listeners[@]}"; do wait "$listener"; done
kill -TERM "$relay"
wait "$relay"

for name in bob carol dave; do
    say "what $name heard: $folder/$name.wav"
    sed 's/^/    /' "$folder/$name.log" >&2
done
