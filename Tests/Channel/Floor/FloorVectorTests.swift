import Foundation
import TenfourFloor
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Protocol/vectors/floor, which a script of another language wrote: bytes beside their meaning.
struct FloorVectorTests {
    @Test(arguments: try FloorVector.all()) func theBytesMeanThat(_ vector: FloorVector) throws {
        switch vector.kind {
        case "message": try checkMessage(vector)
        case "app": try checkPacket(vector)
        case "relay": try checkRelayMessage(vector)
        default: Issue.record("there is no kind \(vector.kind)")
        }
    }

    @Test func allKindsAreThere() throws {
        #expect(try FloorVector.all().count == FloorVector.folder.files().count)
        #expect(try FloorVector.all().count(where: { $0.kind == "message" && $0.meaning != nil }) >= 25)
        #expect(try FloorVector.all().count(where: { $0.refused != nil }) >= 45)
    }

    private func checkMessage(_ vector: FloorVector) throws {
        let bytes = try vector.bytes()
        guard vector.refused == nil else {
            #expect(
                refusal { () throws(FloorParseError) in _ = try FloorMessage(parsing: bytes.span) } == vector.refused)
            return
        }
        let message = try FloorMessage(parsing: bytes.span)
        #expect(message.meaning == vector.meaning)
        #expect([UInt8](capacity: FloorMessage.byteCount) { message.write(into: &$0) } == bytes)
    }

    private func checkPacket(_ vector: FloorVector) throws {
        let bytes = try vector.bytes()
        var compound = try RTCPCompound(parsing: bytes.span, allowsReducedSize: true)
        let next = try compound.next()
        guard case .unknown(let unknown) = next else {
            Issue.record("another packet")
            return
        }
        let parsed = ApplicationPacket(unknown, in: bytes.span)
        let floorPacket = parsed?.name == FloorMessage.packetName ? parsed : nil
        if vector.refused == "not ours" {
            #expect(floorPacket == nil)
            return
        }
        let packet = try #require(floorPacket)
        if let refused = vector.refused {
            #expect(
                refusal { () throws(FloorParseError) in _ = try FloorMessage(parsing: packet.data.span) } == refused)
            return
        }
        #expect(packet.ssrc.rawValue == vector.sender)
        let message = try FloorMessage(parsing: packet.data.span)
        #expect(message.meaning == vector.meaning)
        let data = [UInt8](capacity: FloorMessage.byteCount) { message.write(into: &$0) }
        let written = ApplicationPacket(ssrc: packet.ssrc, name: FloorMessage.packetName, data: data)
        #expect([UInt8](capacity: written.byteCount) { written.write(into: &$0) } == bytes)
    }

    private func checkRelayMessage(_ vector: FloorVector) throws {
        let bytes = try vector.bytes()
        guard vector.refused == nil else {
            #expect(
                refusal { () throws(FloorParseError) in _ = try FloorRelayMessage(parsing: bytes.span) }
                    == vector.refused)
            return
        }
        let message = try FloorRelayMessage(parsing: bytes.span)
        #expect(message.term == vector.term)
        #expect(message.channel == vector.channel.flatMap { UInt64($0, radix: 16) })
        switch message.content {
        case .claim: #expect((vector.type, vector.member, vector.meaning) == (0, 0, nil))
        case .fromMember(let member, let inner):
            #expect((vector.type, vector.member, vector.meaning) == (1, member, inner.meaning))
        case .toMember(let member, let inner):
            #expect((vector.type, vector.member, vector.meaning) == (2, member, inner.meaning))
        case .toAll(let inner): #expect((vector.type, vector.member, vector.meaning) == (3, 0, inner.meaning))
        }
        #expect([UInt8](capacity: FloorRelayMessage.maximumByteCount) { message.write(into: &$0) } == bytes)
    }

    /// The name of the reason for which something is refused; nil if it is not.
    private func refusal(_ parse: () throws(FloorParseError) -> Void) -> String? {
        do {
            try parse()
            return nil
        } catch {
            return switch error {
            case .length: "length"
            case .version: "version"
            case .message: "message"
            case .value: "value"
            }
        }
    }
}

/// A pair of files in Protocol/vectors/floor.
struct FloorVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Meaning: Decodable, Hashable, Sendable {
        var message: String
        var priority, detail: UInt8
        var number, ssrc, term, state, time: UInt32
    }

    var kind: String
    var refused: String?
    var meaning: Meaning?
    var sender, term, member: UInt32?
    var type: UInt8?
    var channel: String?
    private(set) var name = ""

    private enum CodingKeys: CodingKey { case kind, refused, meaning, sender, term, member, type, channel }

    var testDescription: String { name }

    static let folder = VectorFolder("floor")

    /// Returns all vectors, one or more.
    static func all() throws -> [Self] {
        try folder.vectors { $0.name = $1.deletingPathExtension().lastPathComponent }
    }

    func bytes() throws -> [UInt8] { try Self.folder.bytes(of: name) }
}

extension FloorMessage {
    /// What the message means, in the words of the vectors.
    fileprivate var meaning: FloorVector.Meaning {
        func meaning(
            _ name: String, _ priority: FloorPriority, _ detail: UInt8, _ number: UInt32, _ ssrc: SSRC?,
            _ revision: FloorRevision = FloorRevision(), _ time: UInt32 = 0
        ) -> FloorVector.Meaning {
            FloorVector.Meaning(
                message: name, priority: priority.rawValue, detail: detail, number: number, ssrc: ssrc?.rawValue ?? 0,
                term: revision.term, state: revision.state, time: time)
        }
        switch self {
        case .request(let number, let ssrc, let priority, let waits, let sends):
            return meaning("request", priority, (waits ? 1 : 0) + (sends ? 2 : 0), number, ssrc)
        case .granted(let number, let ssrc, let priority, let revision, let time, let mustAnswer):
            return meaning("granted", priority, mustAnswer ? 1 : 0, number, ssrc, revision, time)
        case .taken(let number, let ssrc, let priority, let revision, let time, let conditions):
            let detail: UInt8 =
                (conditions.contains(.talkerIsUnaware) ? 1 : 0) + (conditions.contains(.isRequired) ? 2 : 0)
            return meaning("taken", priority, detail, number, ssrc, revision, time)
        case .denied(let number, let cause, let talker, let priority, let revision, let time):
            let causes: [FloorDenial: UInt8] = [
                .anotherTalks: 1, .tooEarly: 4, .mayOnlyListen: 5, .queueIsFull: 7, .other: 255,
            ]
            return meaning("denied", priority, causes[cause]!, number, talker, revision, time)
        case .release(let number, let ssrc): return meaning("release", .normal, 0, number, ssrc)
        case .idle(let number, let revision, let conditions):
            return meaning("idle", .normal, conditions == .isRequired ? 2 : 0, number, nil, revision)
        case .revoke(let number, let ssrc, let cause, let revision, let time):
            let causes: [FloorRevocation: UInt8] = [.tooLong: 2, .noPermission: 3, .preempted: 4, .other: 255]
            return meaning("revoke", .normal, causes[cause]!, number, ssrc, revision, time)
        case .queuePositionRequest(let number, let ssrc):
            return meaning("queuePositionRequest", .normal, 0, number, ssrc)
        case .queuePosition(let number, let talker, let priority, let revision, let position, let size):
            return meaning("queuePosition", priority, position, number, talker, revision, size)
        }
    }
}
