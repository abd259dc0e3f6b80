import BadLink
import Engine
import Playout
import RTP
import Sound
import Support
import Testing

/// Clocks that run apart, and a link that jitters, for an hour.
struct ClockTests {
    @Test(arguments: [300.0, -300.0])
    func clocksApartPlayAnHourWithoutADropOut(partsPerMillion: Double) {
        let network = NetworkModel(
            delay: .milliseconds(5), jitter: .uniform(.zero ... .milliseconds(4)), keepsOrder: true)
        var conversation = Conversation(talkers: [talker], network: network)
        conversation.link.left.speech = Speech(byteCount: 8, partsPerMillion: partsPerMillion / 2)
        conversation.cardPartsPerMillion = -partsPerMillion / 2
        conversation.run(seconds: 3_600)
        let log = conversation.log(of: talker.ssrc)
        let statistics = conversation.statistics(of: talker.ssrc)
        #expect(log.played == Array(0..<log.played.count))
        #expect(log.played.count >= 179_900)
        #expect(statistics.late == 0)
        #expect(statistics.concealed == .zero)
        let deepest = log.depths.max() ?? 99
        #expect(deepest < 20, "\(deepest) ms deep, of which jitter asks for 4")
        #expect(abs(Double(statistics.driftPartsPerMillion) - partsPerMillion) < 15)
    }
}
