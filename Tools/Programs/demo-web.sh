# Sourced by Tools/demo: runs a relay with a page for browsers, and a talker in its channel, on this machine.

seconds=
case ${1-} in
"") ;;
--seconds)
    [[ ${2-} =~ ^[1-9][0-9]*$ ]] || fail "--seconds needs a number of seconds, such as 60"
    seconds=$2
    ;;
*) fail "Tools/demo web has no option '$1': write --seconds NUMBER, or nothing to run until Ctrl-C" ;;
esac

prepare web tenfour
stop_and_remove() {
    stop
    # The programs were ended by a signal, so their exit status says nothing.
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap stop_and_remove EXIT
trap 'exit 0' INT TERM

port=$((20000 + RANDOM % 20000 / 2 * 2))
make_channel "127.0.0.1:$port"
{
    echo "bind 127.0.0.1:$port"
    echo "status-socket $folder/status"
    cat "$folder/channel.conf"
    echo "http 127.0.0.1:0"
    echo "web demo link=listen.link show-link"
} >"$folder/relay.conf"
"$tenfour" relay --config "$folder/relay.conf" 2>"$folder/relay.log" &
started+=($!)

address=
for _ in {1..50}; do
    # The relay has not written its address yet if there is no match.
    address=$(grep -o 'http://[^ ]*' "$folder/relay.log" || true)
    [[ -z $address ]] || break
    kill -0 "${started[0]}" 2>/dev/null || break
    sleep 0.1
done
[[ $address ]] || fail "the relay did not start: $(tail -n 1 "$folder/relay.log")"

# Sends the recordings again and again.
talk() {
    local pause=
    trap 'kill "$pause" 2>/dev/null; exit 0' TERM
    while :; do
        speak | "$tenfour" send --link-file "$folder/talk.link" --name alice --input - -f S16_LE -r 48000 \
            2>>"$folder/alice.log" &
        pause=$!
        wait "$pause"
        sleep 2 &
        pause=$!
        wait "$pause"
    done
}
talk &
started+=($!)

say "alice talks in the channel 'demo'; open its page in a browser: ${address}demo"
say "or listen with a player: mpv ${address}demo.ogg"
[[ $seconds ]] || say "Ctrl-C ends the demo"
sleep "${seconds:-infinity}" &
started+=($!)
# Ctrl-C ends the wait, and the demo in order.
wait $! || true
