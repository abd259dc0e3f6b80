import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourRadio
import TenfourSession
import TestSupport
import Testing

extension RealTimeTests {
    /// Sessions in a channel on this machine, over real sockets.
    @Suite(.serialized) struct ChannelSessionTests {
        private let secret: Secret
        private let folder = Folder()

        init() {
            var randomness = CSPRNG()
            secret = Secret(.talk, using: &randomness)
        }

        /// Returns the link of a channel. Without a host, the station itself answers the channel's members.
        private func link(_ host: String?, port: UInt16, _ secret: Secret? = nil) throws -> ChannelLink {
            try ChannelLink(host: host, port: port, name: "test", opening: .secret(secret ?? self.secret))
        }

        /// Returns a session that answers the channel's members on `port` and records what they send.
        private func answering(on port: UInt16, _ heard: Heard) throws -> RadioSession {
            var configuration = try RadioConfiguration.joining(try link(nil, port: port), as: .talk)
            configuration.recording = .closure { heard.take($0, $1) }
            configuration.endsWithLastSource = true
            return try RadioSession(configuration)
        }

        private func sending(_ link: ChannelLink) throws -> RadioSession {
            var configuration = try RadioConfiguration.joining(link, as: .talk)
            configuration.input = .file(try folder.sound("tone.wav", tone(440, seconds: 2)), raw: nil)
            return try RadioSession(configuration)
        }

        @Test func aStationAnswersItsChannelsMembers() throws {
            try expectNoFailure {
                let port = UDPPort.free()
                let heard = (own: Heard(), listener: Heard())
                let answering = try answering(on: port, heard.own)
                try answering.start()
                let keys = try ChannelKeys(link("127.0.0.1", port: port))
                var listener = try RadioConfiguration.joining(
                    link("127.0.0.1", port: port, keys.listenSecret), as: .listen)
                listener.recording = .closure { heard.listener.take($0, $1) }
                listener.endsWithLastSource = true
                let listening = try RadioSession(listener)
                try listening.start()
                #expect(waiting { !listening.takeChannelEvents().isEmpty })
                let sending = try sending(link("127.0.0.1", port: port))
                try sending.run()
                try answering.wait()
                try listening.wait()
                #expect(sending.snapshot?.sendStream.packetCount == 100, "a file waits until it can be heard")
                for heard in [heard.own, heard.listener] {
                    let sound = heard.samples
                    #expect(sound.count >= 2 * 48_000)
                    if longestGap(in: sound) > 480 { return "a gap of \(longestGap(in: sound))" }
                    let loudness = medianAmplitude(of: 440, in: sound[24_000..<84_000])
                    if abs(loudness - 0.4) > 0.04 { return "a tone of \(loudness)" }
                }
                return nil
            }
        }

        @Test func aMemberWithAnotherSecretIsRefusedAndHeardByNobody() throws {
            let port = UDPPort.free()
            let heard = Heard()
            let answering = try answering(on: port, heard)
            try answering.start()
            var randomness = CSPRNG()
            let stranger = try sending(link("127.0.0.1", port: port, Secret(.talk, using: &randomness)))
            let error = #expect(throws: RadioError.self) { try stranger.run() }
            #expect(error?.kind == .unavailable)
            #expect(
                error?.description.hasPrefix("the relay does not know this channel, or the link's secret is wrong")
                    == true)
            #expect(stranger.snapshot?.sendStream.packetCount == 0)
            answering.stop()
            try answering.wait()
            #expect(heard.samples.allSatisfy { $0 == 0 })
        }

        private func listening(_ link: ChannelLink, for duration: Duration) throws -> RadioSession {
            var configuration = try RadioConfiguration.joining(link, as: .listen)
            configuration.recording = .closure { _, _ in }
            configuration.duration = duration
            return try RadioSession(configuration)
        }

        @Test func aSessionThatNeverFoundItsChannelReportsIt() throws {
            let session = try listening(link("127.0.0.1", port: UDPPort.free()), for: .seconds(1))
            let error = #expect(throws: RadioError.self) { try session.run() }
            #expect(error?.kind == .unavailable)
            #expect(error?.description.hasPrefix("nobody answers at the link's address") == true)
        }

        @Test func aSessionWhoseChannelIsGoneReportsIt() throws {
            let port = UDPPort.free()
            let answering = try answering(on: port, Heard())
            try answering.start()
            let session = try listening(link("127.0.0.1", port: port), for: .seconds(4))
            try session.start()
            #expect(waiting { !session.takeChannelEvents().isEmpty })
            answering.stop()
            try answering.wait()
            #expect(waiting { session.takeChannelEvents().contains(.closed(.left)) })
            let error = #expect(throws: RadioError.self) { try session.wait() }
            #expect(error?.kind == .unavailable)
        }

        @Test func aStoppedSessionEndsWithSuccess() throws {
            let session = try listening(link("127.0.0.1", port: UDPPort.free()), for: .seconds(60))
            try session.start()
            #expect(waiting { !session.takeChannelEvents().isEmpty })
            session.stop()
            try session.wait()
        }

        @Test func aListenLinkDoesNotTalk() throws {
            let keys = try ChannelKeys(link("127.0.0.1", port: 5_004))
            let listen = try link("127.0.0.1", port: 5_004, keys.listenSecret)
            let error = #expect(throws: RadioError.self) { try RadioConfiguration.joining(listen, as: .talk) }
            #expect(
                error
                    == RadioError(
                        .usage, "this is a listen link, which does not let you talk: ask for the channel's talk link"))
        }
    }
}
