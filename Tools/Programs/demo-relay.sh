# Sourced by Tools/demo: runs a relay, a talker and three listeners on this machine, in a channel with a new secret.

prepare relay tenfour

port=$((20000 + RANDOM % 20000 / 2 * 2))
make_channel "127.0.0.1:$port"
{
    echo "bind 127.0.0.1:$port"
    echo "name 127.0.0.1:$port"
    echo "status-socket $folder/status"
    cat "$folder/channel.conf"
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
speak | "$tenfour" send --link-file "$folder/talk.link" --name alice --input - -f S16_LE -r 48000 &
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
