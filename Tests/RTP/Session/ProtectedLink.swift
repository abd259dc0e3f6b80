import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A question from bob's station 1 to 9's stream, which begins at 0.
func nack(_ numbers: [Int]) -> [UInt8] {
    let nack = GenericNACK(
        sender: SSRC(1), media: SSRC(9), sequenceNumbers: numbers.map { SequenceNumber(rawValue: UInt16($0)) })
    return report(SSRC(1)) + [UInt8](capacity: nack.byteCount) { nack.write(into: &$0) }
}

extension RTCPPacket {
    var nack: GenericNACK? { if case .genericNACK(let nack) = self { nack } else { nil } }
    var details: ExtendedReport? { if case .extendedReport(let report) = self { report } else { nil } }
}

/// Two stations on a bad link, 20 ms each way: the left one talks.
enum ProtectedLink {
    static func link(
        _ network: String, _ left: LossProtectionConfiguration.Mode, _ right: LossProtectionConfiguration.Mode,
        seed: UInt64
    ) throws -> SimulatedLink {
        try link(network, configuration(left), configuration(right), seed: seed)
    }

    static func link(
        _ network: String, _ left: LossProtectionConfiguration, _ right: LossProtectionConfiguration, seed: UInt64
    ) throws -> SimulatedLink {
        var model = try #require(NetworkModel(named: network))
        model.delay = .milliseconds(20)
        return link(model, left, right, seed: seed)
    }

    static func link(
        _ network: NetworkModel, _ left: LossProtectionConfiguration.Mode, _ right: LossProtectionConfiguration.Mode,
        seed: UInt64
    ) -> SimulatedLink {
        link(network, configuration(left), configuration(right), seed: seed)
    }

    static func link(
        _ network: NetworkModel, _ left: LossProtectionConfiguration, _ right: LossProtectionConfiguration, seed: UInt64
    ) -> SimulatedLink {
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)], lossProtection: left)),
            right: session(1, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(0)], lossProtection: right)),
            network: network, seed: seed)
        link.left.speech = Speech()
        link.left.speech?.followsDefence = true
        return link
    }

    static func configuration(_ mode: LossProtectionConfiguration.Mode) -> LossProtectionConfiguration {
        var configuration = LossProtectionConfiguration()
        configuration.mode = mode
        return configuration
    }

    static func questions(of end: LinkEnd) -> [SentDatagram] {
        end.sentControl.filter { $0.packets.contains { $0.nack != nil } }
    }

    /// Of the right end's packets from `start` on, those that came no later after the fastest way than `depth`.
    static func shareInTime(
        _ link: SimulatedLink, within depth: Duration, from start: Double = 5, until end: Double = .infinity,
        delay: Duration = .milliseconds(20)
    ) -> Double {
        func sentAt(_ number: Int) -> Instant { .start + .milliseconds(20 * (number + 1)) }
        let last = min(end, Double(link.now.nanoseconds) / 1e9 - 1)
        let sent = Set((0..<Int(last * 50)).filter { sentAt($0) >= seconds(start) })
        let heard = Set(
            link.right.heard.filter {
                $0.packet.ssrc == link.left.session.ssrc && $0.at - sentAt($0.number) <= delay + depth
            }
            .map(\.number))
        return Double(sent.intersection(heard).count) / Double(sent.count)
    }
}
