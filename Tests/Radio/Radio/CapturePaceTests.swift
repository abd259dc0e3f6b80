import TenfourRadio
import TestSupport
import Testing

extension RealTimeTests {
    @Suite(.serialized, .needsLabcard) struct CapturePaceTests {
        /// A capture thread that needs longer than a packet lasts sends two or more at once, or loses audio.
        @Test func packetsLeaveOneByOneAsTheirAudioIsCaptured() throws {
            try expectNoFailure {
                let socket = PlainSocket()
                var configuration = try RadioConfiguration.sending(.card("labcard:pace_mic"), toPort: socket.port)
                configuration.coding.frame = .milliseconds(5)
                let sending = try RadioSession(configuration)
                let mouth = try Mouth("labcard:pace_mic", saying: 440)
                try sending.start()
                var arrivals: [ContinuousClock.Instant] = []
                while arrivals.count < 450, socket.receive(within: 10_000) != nil { arrivals.append(.now) }
                sending.stop()
                try sending.wait()
                mouth.finish()
                // The first ones may wait for the card.
                let settled = arrivals.dropFirst(50)
                guard settled.count == 400, let first = settled.first, let last = settled.last else {
                    return "\(arrivals.count) packets"
                }
                let gaps = zip(settled, settled.dropFirst()).map { $1 - $0 }
                let bunched = gaps.count { $0 < .milliseconds(1) }
                return bunched < 100 && last - first < .seconds(2.6)
                    ? nil : "400 packets of 5 ms took \(last - first), and \(bunched) came with the one before"
            }
        }
    }
}
