import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Clocks that run apart by 72 ms in four minutes, and a link that jitters. With TENFOUR_LONG for an hour: by more than a second.
struct ClockTests {
    private static let minutes = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 4 : 60

    @Test(arguments: [300.0, -300.0])
    func clocksThatRunApartPlayWithoutADropOut(partsPerMillion: Double) {
        let network = NetworkModel(
            delay: .milliseconds(5), jitter: .uniform(.zero ... .milliseconds(4)), keepsOrder: true)
        var conversation = Conversation(talkers: [talker], network: network)
        conversation.link.left.speech = Speech(byteCount: 8, partsPerMillion: partsPerMillion / 2)
        conversation.cardPartsPerMillion = -partsPerMillion / 2
        conversation.run(seconds: 60 * Double(Self.minutes))
        let log = conversation.log(of: talker.ssrc)
        let statistics = conversation.statistics(of: talker.ssrc)
        #expect(log.played == Array(0..<log.played.count))
        #expect(log.played.count >= 3_000 * Self.minutes - 100)
        #expect(statistics.late == 0)
        #expect(statistics.concealed == .zero)
        let deepest = log.depths.max() ?? 99
        #expect(deepest < 20, "\(deepest) ms deep, of which jitter asks for 4")
        #expect(abs(Double(statistics.driftPartsPerMillion) - partsPerMillion) < 15)
    }
}
