import Synchronization
import TenfourAudioCore
import TenfourSession
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourRadio

extension RealTimeTests {
    /// Two stations on one machine, one of which moves to another loopback address.
    @Suite(.serialized) struct PartnerTests {
        @Test func aPartnerWhoseAddressChangesIsFollowed() throws {
            let (port, partnersPort) = (UDPPort.free(), UDPPort.free())
            let folder = Folder()
            let speech = try folder.sound("tone.wav", tone(440, seconds: 60))
            let (old, new) = (
                Endpoint(.v4(0x7F00_0002), port: partnersPort), Endpoint(.v4(0x7F00_0003), port: partnersPort)
            )

            var configuration = try RadioConfiguration.talking(
                with: StreamAddress(host: "127.0.0.2", port: partnersPort), localPort: port)
            let place = Locked(old)
            configuration.partner?.interval = .milliseconds(500)
            configuration.partner?.resolve = { _, _ in [place.withLock { $0 }] }
            configuration.input = .file(speech, raw: nil)
            configuration.output = .clock
            let alice = try RadioSession(configuration)
            try alice.start()

            func partner(at place: Endpoint) throws -> RadioSession {
                var configuration = RadioConfiguration(local: place, rtpSession: RTPSessionConfiguration())
                configuration.rtpSession.remotes = [Endpoint(.v4(0x7F00_0001), port: port)]
                configuration.input = .file(speech, raw: nil)
                configuration.output = .clock
                return try RadioSession(configuration)
            }
            let before = try partner(at: old)
            try before.start()
            #expect(waiting { before.snapshot?.talkers.first?.receivedCount ?? 0 > 10 })
            before.stop()
            try before.wait()

            place.withLock { $0 = new }
            let after = try partner(at: new)
            try after.start()
            #expect(waiting { after.snapshot?.talkers.first?.receivedCount ?? 0 > 10 }, "the partner hears us again")
            #expect(
                waiting { alice.snapshot?.talkers.contains { $0.endpoint?.address == new.address } ?? false },
                "and we hear the partner")
            #expect(alice.takeEvents().contains(.partnerMoved(to: new)))
            for session in [alice, after] { session.stop() }
            for session in [alice, after] { try session.wait() }
        }
    }
}
