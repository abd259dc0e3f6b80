internal import TenfourRelayCore

extension RelayFile {
    /// An example configuration that explains every setting. A disabled setting is written directly after `#`, without
    /// a space, with its default value.
    public static let example = """
        # The configuration of a tenfour relay: tenfour relay --config relay.conf
        # Each line is one setting, and # begins a comment. Only you should be able to read this file: chmod 600 relay.conf
        # After a change, run tenfour relay --config relay.conf --check, then kill -HUP the relay. Members of unchanged channels
        # stay. Changes of bind, workers and status-socket need a restart.

        # The numeric address at which members join. [::] is every address of this machine, including IPv4.
        #bind [::]:5004

        # Number of sending threads. More than one helps above a few thousand listeners.
        #workers 1

        # The host names of this relay in members' links, one per line. A member whose link has another name is refused. If none
        # is set, every name is accepted, and a link to another relay with the same keys works here as well.
        #name radio.example.org

        # The channels. tenfour channel new --relay HOST prints this line. These keys admit members, but cannot decrypt the
        # audio.
        #channel family talk=KEY listen=KEY

        # A channel can have its own limits in its line, instead of those below.
        #channel concert talk=KEY listen=KEY members=5000 talker-packets=200 talker-bits=256k

        # Maximum number of members in all channels, and in one channel. A further member is refused. A quarter of each number,
        # at least two, is reserved for members who can talk.
        #members \(RelayLimits().members)
        #channel-members \(RelayLimits().channelMembers)

        # Per channel: maximum number of talkers, of simultaneous voices, and of bits per second from all talkers. The relay drops
        # everything above a limit.
        #channel-talkers \(RelayLimits().channelTalkers)
        #channel-voices \(RelayLimits().channelVoices)
        #channel-bits \(RelayLimits().channelBitsPerSecond / 1_000)k

        # Maximum packets and bits per second from one talker.
        #talker-packets \(RelayLimits().talkerPacketsPerSecond)
        #talker-bits \(RelayLimits().talkerBitsPerSecond / 1_000)k

        # A channel without a secret forwards standard RTP unchanged, only to the addresses that you list. Anybody on the path
        # can hear it. Addresses are numeric; a file after @ holds one address per line.
        #rtp-in studio=0.0.0.0:6000,from=10.0.0.7
        #rtp-out studio=10.0.1.20:5004
        #rtp-out studio=239.0.1.10:5004
        #rtp-out studio=@listeners.txt

        # Maximum packets and bits per second from one rtp-in.
        #plain-packets \(PlainChannel.Limits().packetsPerSecond)
        #plain-bits \(PlainChannel.Limits().bitsPerSecond / 1_000)k

        # The socket of tenfour relay status. Default: in $XDG_RUNTIME_DIR/tenfour, or in /run/tenfour.
        #status-socket /run/tenfour/relay.sock

        """
}
