import Foundation
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRelayCore
import TestSupport
import Testing

@testable import TenfourRelayCluster

/// The messages in Protocol/vectors/cluster, which another implementation made.
struct VectorTests {
    private struct Inputs: Decodable {
        var clusterKey, bootID, nonce, otherBootID, otherNonce, clusterID, channelTag: String
        var subjects: [String: String]
    }

    private struct Message: Decodable {
        var message: UInt8
        var subject, body: String
        var counter: UInt64
    }

    static let names = [
        "presence", "state", "datagram-media", "datagram-announcement", "nack", "retransmission", "report", "leaving",
        "floor-claim", "floor-from-member",
    ]

    private static func data(_ file: String) throws -> Data {
        try Data(contentsOf: URL(filePath: Repository.path("Protocol/vectors/cluster/\(file)")))
    }

    private let inputs: Inputs
    private let key: ClusterKey
    private let boot: BootID

    init() throws {
        inputs = try JSONDecoder().decode(Inputs.self, from: Self.data("inputs.json"))
        key = try #require(ClusterKey(parsing: Array(inputs.clusterKey.utf8)))
        boot = BootID(rawValue: try #require(UInt128(inputs.bootID, radix: 16)))
    }

    @Test func theSubjectsAreThose() throws {
        let subjects = ClusterSubjects(key)
        #expect(subjects.presence == inputs.subjects["presence"])
        let other = BootID(rawValue: try #require(UInt128(inputs.otherBootID, radix: 16)))
        #expect(subjects.relay(other) == inputs.subjects["relay"])
        let tag = try #require(UInt64(inputs.channelTag, radix: 16))
        #expect(subjects.channel(tag) == inputs.subjects["channel"])
    }

    @Test(arguments: names) func aMessageIsOpenedAndIsWrittenAlike(_ name: String) throws {
        let message = try JSONDecoder().decode(Message.self, from: Self.data(name + ".json"))
        let bytes = [UInt8](try Self.data(name + ".bin"))
        let subject = try #require(inputs.subjects[message.subject])
        let parsed = MessageHeader(parsing: bytes.span)
        let header = try #require(parsed)
        #expect(header.kind.rawValue == message.message)
        #expect(header.counter == message.counter)
        var opener = MessageOpener(key, boot: boot)
        var opened = bytes
        let range = try opener.open(&opened, header, on: subject)
        let body = Array(opened[range])
        #expect(body.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == message.body)

        var sealer = MessageSealer(key, boot: boot)
        for _ in 1..<message.counter { _ = sealer.seal(.leaving, [UInt8]().span, on: subject) }
        #expect(sealer.seal(header.kind, rewritten(header.kind, body).span, on: subject) == bytes)
    }

    /// Parses a body and writes it again.
    private func rewritten(_ kind: MessageKind, _ body: [UInt8]) -> [UInt8] {
        switch kind {
        case .presence: RelayPresence(parsing: body.span)?.bytes ?? []
        case .state: ChannelState(parsing: body.span)?.bytes ?? []
        case .nack: ClusterNACK(parsing: body.span)?.bytes ?? []
        case .report: ClusterReport(parsing: body.span)?.bytes ?? []
        case .floor:
            (try? FloorRelayMessage(parsing: body.span)).map { message in
                [UInt8](capacity: FloorRelayMessage.maximumByteCount) { message.write(into: &$0) }
            } ?? []
        case .datagram, .retransmission, .leaving: body
        }
    }

    @Test func theValuesAreThose() throws {
        func body(_ name: String) throws -> [UInt8] {
            let message = try JSONDecoder().decode(Message.self, from: Self.data(name + ".json"))
            return stride(from: 0, to: message.body.count, by: 2).map { offset in
                UInt8(message.body.dropFirst(offset).prefix(2), radix: 16)!
            }
        }
        let tag = try #require(UInt64(inputs.channelTag, radix: 16))
        let presenceBody = try body("presence")
        let presence = try #require(RelayPresence.parsed(presenceBody))
        #expect(presence.nonce == UInt128(inputs.nonce, radix: 16))
        #expect(presence.heard.map(\.boot.rawValue) == [UInt128(inputs.otherBootID, radix: 16)!])
        #expect(presence.heard.map(\.nonce) == [UInt128(inputs.otherNonce, radix: 16)!])
        #expect(presence.heard.map(\.counter) == [77])
        #expect(presence.heard.map(\.age) == [1_234])
        #expect(presence.tags == [tag])
        let stateBody = try body("state")
        let state = try #require(ChannelState.parsed(stateBody))
        #expect(state.unlistedCount == 3)
        #expect(state.claims.map(\.ssrc.rawValue) == [0x1122_3344, 0x5566_7788])
        #expect(state.claims.map(\.milliseconds) == [1_700_000_000_123, 1_700_000_000_456])
        #expect(state.claims.map(\.announcementAge) == [250, 0])
        #expect(state.claims.map(\.announcement.count) == [56, 0])
        #expect(state.claims.map(\.name) == ["Anna", ""])
        #expect(state.entries.map(\.number) == [9, 10])
        let nackBody = try body("nack")
        let nack = try #require(ClusterNACK.parsed(nackBody))
        #expect(nack.numbers.map(\.rawValue) == [65_535, 0, 3])
        #expect(nack.tag == tag)
        let reportBody = try body("report")
        let report = try #require(ClusterReport.parsed(reportBody))
        #expect(
            report.summary
                == ListenersSummary(
                    lineCount: 12, fractionLost: 64, redPayloadType: 112, hasDeepConcealment: true, depth: 200))
    }
}

extension RelayPresence { static func parsed(_ body: [UInt8]) -> Self? { Self(parsing: body.span) } }
extension ChannelState { static func parsed(_ body: [UInt8]) -> Self? { Self(parsing: body.span) } }
extension ClusterNACK { static func parsed(_ body: [UInt8]) -> Self? { Self(parsing: body.span) } }
extension ClusterReport { static func parsed(_ body: [UInt8]) -> Self? { Self(parsing: body.span) } }
