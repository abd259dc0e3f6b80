#!/usr/bin/env bash
# Run by Tools/pictures in namespaces of its own: bob talks to alice, and alice's terminal is captured. At the same time a stream
# without loss protection is recorded behind a network that loses 10% of its packets.
#
# usage: call.sh TENFOUR FOLDER      writes FOLDER/screen and FOLDER/heard.wav
set -euo pipefail
tenfour=$1 folder=$2
export PATH=${tenfour%/*}:$PATH:/usr/sbin:/sbin

# Host names as on a local network.
printf '127.0.0.1 localhost\n10.0.0.1 alice.local\n10.0.0.2 bob.local\n' >"$folder/hosts"
echo 'hosts: files' >"$folder/nsswitch.conf"
mount --bind "$folder/hosts" /etc/hosts
mount --bind "$folder/nsswitch.conf" /etc/nsswitch.conf

# Bob's network, joined to alice's by a cable that loses 3% of the packets to alice.
unshare --net sleep 120 &
bob=$!
while [[ $(readlink "/proc/$bob/ns/net") == "$(readlink /proc/self/ns/net)" ]]; do sleep 0.05; done
ip link set lo up
ip link add alice type veth peer name bob netns "$bob"
ip address add 10.0.0.1/24 dev alice
ip link set alice up
nsenter --target "$bob" --net sh -c 'ip link set lo up; ip address add 10.0.0.2/24 dev bob; ip link set bob up'
nft add table inet loss
nft add chain inet loss input '{ type filter hook input priority 0; }'
nft add rule inet loss input iif alice udp dport 5004 numgen random mod 100 '<' 3 drop

# Recorded sentences with pauses of 0.4 s stand for both microphones.
for _ in 1 2 3 4; do
    for recording in /usr/share/sounds/alsa/{Front,Rear,Side}_*.wav; do
        tail -c +45 "$recording"
        head -c 38400 /dev/zero
    done
done >"$folder/speech"
# The recording: speech, sent through badlink.
badlink --network g10 --seed 2 127.0.0.1:6000 127.0.0.1:6100 2>/dev/null &
tenfour recv rtp://127.0.0.1:6100 --oneshot --quiet -o "$folder/heard.wav" &
recorder=$!
sleep 1
head -c 960000 "$folder/speech" |
    tenfour send rtp://127.0.0.1:6000 --input - -f S16_LE -r 48000 --fec off --defence off --quiet &

export TENFOUR_INPUT=$folder/speech TENFOUR_FORMAT=S16_LE TENFOUR_RATE=48000 TENFOUR_DEVICE=null
nsenter --target "$bob" --net "$tenfour" talk alice.local --name bob --open --quiet 2>/dev/null &

export TENFOUR_NAME=alice TERM=xterm-256color
terminal=(tmux -S "$folder/tmux" -f /dev/null)
"${terminal[@]}" new-session -d -x 80 -y 10 -s call "env PS1='alice:~\$ ' bash --norc --noprofile"
"${terminal[@]}" set -g status off
sleep 1
"${terminal[@]}" send-keys -t call "tenfour talk bob.local" Enter
sleep 5
"${terminal[@]}" send-keys -t call w
sleep 1
"${terminal[@]}" send-keys -t call " "
sleep 9
"${terminal[@]}" capture-pane -e -p -t call >"$folder/screen"
"${terminal[@]}" send-keys -t call q
sleep 1
"${terminal[@]}" kill-server
wait "$recorder"
