internal import TenfourRelayCore

extension RelayFile {
    /// An example configuration that explains every setting. A disabled setting is written directly after `#`, without
    /// a space, with its default value.
    public static let example = """
        # The configuration of a tenfour relay: tenfour relay --config relay.conf
        # Each line is one setting, and # begins a comment. Only you should be able to read this file: chmod 600 relay.conf
        # After a change, run tenfour relay --config relay.conf --check, then kill -HUP the relay. Members of unchanged channels
        # stay. Changes of bind, workers, http, nats, metrics, state and status-socket need a restart.

        # The numeric address at which members join. [::] is every address of this machine, including IPv4.
        #bind [::]:5004

        # Number of sending threads. More than one helps above a few thousand listeners.
        #workers 1

        # The host names of this relay in members' links, one per line. A member whose link has another name is refused. If none
        # is set, every name is accepted, and a link to another relay with the same keys works here as well.
        #name radio.example.org

        # The file with the relay's own key, by which members recognise this relay. tenfour relay makes the file at its start.
        # tenfour relay --config relay.conf --show-key prints the public part: give it to the person who makes the channel's
        # links, for tenfour channel new --relay-key. A relay of a cluster needs a copy of this file.
        #relay-key relay.key

        # The channels. tenfour channel new --relay HOST prints this line. These keys admit members, but cannot decrypt the
        # audio.
        #channel family talk=KEY listen=KEY

        # A channel can have an owner, who says which members may join: tenfour channel new and tenfour channel keys print the owner's
        # key. Such a channel needs relay-key, and the relays of a cluster cannot share it.
        #channel circle talk=KEY listen=KEY owner=KEY

        # The folder with what owners and members of such channels have deposited. It is made if it is missing. Default: the
        # folder that systemd gives ($STATE_DIRECTORY), /var/lib/tenfour for root, or $XDG_STATE_HOME/tenfour/relay.
        #state /var/lib/tenfour

        # A channel can have its own limits in its line, instead of those below.
        #channel concert talk=KEY listen=KEY members=5000 talker-packets=200 talker-bits=256k

        # In this channel one talks at a time: while one member talks, the relay drops the audio of all others. A member talks
        # for at most talk-time seconds. With floor=on, the relay grants the floor to one of those who ask for it (talk --floor),
        # and forwards everybody. All relays of a cluster should say the same here.
        #channel control talk=KEY listen=KEY floor=required talk-time=180

        # Let stations pair through this relay (tenfour pair --relay HOST), and forward the channels for two that they make. Anybody
        # who can reach the relay can make such channels; the relay cannot hear them, and keeps nothing of them. Needs relay-key:
        # with another key in that file, all of these channels end. The relays of a cluster cannot share them.
        #pair off

        # Maximum number of members of all such channels, at most half of members, and of bits per second in one of them. If all
        # places are taken, a host that has none takes the newest place of the host with the most; if each host has one only,
        # networks share them.
        #pair-members \(PairingConfiguration().members)
        #pair-bits \(PairingConfiguration().bitsPerSecond / 1_000)k

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
        # can hear it. Addresses are numeric; a file after @ holds one address per line. With ,sap the relay announces the
        # multicast group (SAP) once it has received audio, so that PulseAudio and other receivers find it.
        #rtp-in studio=0.0.0.0:6000,from=10.0.0.7
        #rtp-out studio=10.0.1.20:5004
        #rtp-out studio=239.0.1.10:5004,sap
        #rtp-out studio=@listeners.txt

        # Maximum packets and bits per second from one rtp-in.
        #plain-packets \(PlainChannel.Limits().packetsPerSecond)
        #plain-bits \(PlainChannel.Limits().bitsPerSecond / 1_000)k

        # The address of the HTTP server for browsers (the page /CHANNEL) and players (/CHANNEL.ogg, /CHANNEL.webm). It is plain
        # HTTP; for listeners on other machines, put a TLS proxy in front of it.
        #http 127.0.0.1:8080

        # The channels that can be heard over HTTP. The relay needs the listen link of an encrypted channel, in a file that only
        # you can read; by default NAME.link in the folder of this file. The relay can then hear the channel. With a token, only
        # people who know it can listen: http://…/family?token=TOKEN. With show-link, the page shows the listen link.
        #web studio
        #web family link=family.link token=family.token show-link

        # The page's address as listeners type it, for links and QR codes.
        #web-address https://radio.example.org/

        # The names by which browsers may reach the HTTP server and the metrics, besides IP addresses, localhost, and the names
        # that web-address, name and the links have. Requests for other names are refused (DNS rebinding).
        #http-host radio.lan

        # TLS proxies in front of the HTTP server, also those on this machine. The relay accepts 64 HTTP connections from one IP
        # address; for a connection from one of these proxies, it counts the address in X-Forwarded-For instead.
        #web-proxy 127.0.0.1

        # A cluster: relays that have the same NATS servers, cluster key and channels act as one relay, and members may join any
        # of them. Make the key with (umask 077; openssl rand -hex 32 > cluster.key). The first line of the credentials file is
        # USER:PASSWORD; it may also be a credentials file that NATS's tools have made.
        #nats nats://10.0.0.7:4222,tls://nats.example.org:4222
        #cluster-key cluster.key
        #nats-credentials nats.credentials
        #nats-ca ca.pem
        #nats-cert relay.pem
        #nats-key relay.key

        # The socket of tenfour relay status. Default: in $XDG_RUNTIME_DIR/tenfour, or in /run/tenfour.
        #status-socket /run/tenfour/relay.sock

        # Sends a channel to a mount point of an Icecast server, for a public audience. The file holds the server's host, port,
        # mount, user and password, and only you may read it. The relay needs the link of an encrypted channel, as for web.
        #icecast family=icecast.conf

        # The address of the metrics for Prometheus (/metrics) and of the health check (/healthz). With a port alone, only this
        # machine can reach them.
        #metrics 9104

        """
}
