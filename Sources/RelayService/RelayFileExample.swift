internal import Relaying

extension RelayFile {
    /// A configuration that says what there is to set. Settings that are off stand right behind their `#`, with their defaults.
    public static let example = """
        # What a tenfour relay carries, and for whom: tenfour relay --config relay.conf
        # One line is one thing, and # begins a remark. Keep this file to yourself: chmod 600 relay.conf
        # After a change: tenfour relay --config relay.conf --check, then kill -HUP the relay. Members of channels that stay as
        # they are notice nothing. bind, workers and status-socket wait for a new start.

        # Where members come, in numbers. [::] is every address of this machine, IPv4 too.
        #bind [::]:5004

        # Threads that send. More than one is worth it for more than some thousand listeners.
        #workers 1

        # What members' links call this relay, one in a line: who comes with another name is refused. Without any, every name
        # will do, and a link to another relay with the same keys works here as well.
        #name radio.example.org

        # The channels that members join: as tenfour channel new --relay HOST prints the line. These keys let members in, and
        # open nothing that they say.
        #channel family talk=KEY listen=KEY

        # A channel that is to have other limits than those below has them in its line.
        #channel concert talk=KEY listen=KEY members=5000 talker-packets=200 talker-bits=256k

        # Members in all channels together, and in one of them: one more is told that it is full. A quarter of the places, at
        # least two, is kept for talkers.
        #members \(RelayLimits().members)
        #channel-members \(RelayLimits().channelMembers)

        # Talkers that one channel knows, those of them that are heard at the same time, and what they may send together in a
        # second. What is beyond is not passed on.
        #channel-talkers \(RelayLimits().channelTalkers)
        #channel-voices \(RelayLimits().channelVoices)
        #channel-bits \(RelayLimits().channelBitsPerSecond / 1_000)k

        # What one talker may send in a second.
        #talker-packets \(RelayLimits().talkerPacketsPerSecond)
        #talker-bits \(RelayLimits().talkerBitsPerSecond / 1_000)k

        # A channel without a secret passes standard RTP on as it is, to whom you write down and to nobody else. Everybody on
        # the way can hear it. Addresses are numbers; a file named by @ holds one in each line.
        #rtp-in studio=0.0.0.0:6000,from=10.0.0.7
        #rtp-out studio=10.0.1.20:5004
        #rtp-out studio=239.0.1.10:5004
        #rtp-out studio=@listeners.txt

        # What one such input may send in a second.
        #plain-packets \(PlainChannel.Limits().packetsPerSecond)
        #plain-bits \(PlainChannel.Limits().bitsPerSecond / 1_000)k

        # Where tenfour relay status asks. Without it: in $XDG_RUNTIME_DIR/tenfour, or /run/tenfour.
        #status-socket /run/tenfour/relay.sock

        """
}
