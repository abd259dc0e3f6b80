# Sourced by Tools/demo: runs nats-server, a cluster of three relays, and members on each of them, and kills one relay.

need nats-server
prepare cluster tenfour

port=$((20000 + RANDOM % 20000 / 2 * 2))
hosts=("127.0.0.1:$port" "127.0.0.2:$port" "127.0.0.3:$port")
make_channel "${hosts[0]},${hosts[1]},${hosts[2]}"
od -An -N 32 -t x1 /dev/urandom | tr -d ' \n' >"$folder/cluster.key"

# member_link NAME talk|listen FIRST: writes NAME.link, whose first host is the one with this number.
member_link() {
    local order=("${hosts[@]:$3}" "${hosts[@]:0:$3}") IFS=,
    sed "s|//.*/demo#|//${order[*]}/demo#|" "$folder/$2.link" >"$folder/$1.link"
}

say "three relays at 127.0.0.1, 127.0.0.2 and 127.0.0.3 form a cluster through a nats-server: they act as one relay"
nats-server -a 127.0.0.1 -p "$port" >"$folder/nats.log" 2>&1 &
started+=($!)
relays=()
for number in 0 1 2; do
    {
        echo "bind ${hosts[number]}"
        echo "status-socket $folder/status$number"
        cat "$folder/channel.conf"
        echo "nats nats://127.0.0.1:$port"
        echo "cluster-key cluster.key"
    } >"$folder/relay$number.conf"
    "$tenfour" relay --config "$folder/relay$number.conf" 2>"$folder/relay$number.log" &
    relays+=($!)
    started+=($!)
done
sleep 2

say "bob, carol and dave join one relay each: their links name all three relays, each in another order"
listeners=()
number=0
for name in bob carol dave; do
    member_link "$name" listen "$number"
    "$tenfour" listen --link-file "$folder/$name.link" --name "$name" --oneshot -o "$folder/$name.wav" \
        >"$folder/$name.log" 2>&1 &
    listeners+=($!)
    started+=($!)
    number=$((number + 1))
done
sleep 1

say "alice joins bob's relay, and speaks"
member_link alice talk 0
speak | "$tenfour" send --link-file "$folder/alice.link" --name alice --input - -f S16_LE -r 48000 2>"$folder/alice.log" &
talker=$!
started+=("$talker")
sleep 4
say "the relay of alice and bob is killed (SIGKILL)"
kill -KILL "${relays[0]}"
# Its exit status is that of a killed program.
wait "${relays[0]}" 2>/dev/null || true
sleep 3
"$tenfour" relay status --socket "$folder/status1"
wait "$talker"
for listener in "${listeners[@]}"; do wait "$listener"; done

for name in alice bob carol dave; do
    if [[ $name == alice ]]; then
        say "the messages to alice"
    else
        say "the messages to $name, and what $name heard in $folder/$name.wav"
    fi
    sed 's/^/    /' "$folder/$name.log" >&2
done
