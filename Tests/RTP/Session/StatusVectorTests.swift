import Foundation
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Protocol/vectors/status, which a script of another language wrote: datagrams with a status beside its meaning.
struct StatusVectorTests {
    @Test(arguments: try StatusVector.all()) func theBytesMeanThat(_ vector: StatusVector) throws {
        let bytes = try vector.bytes()
        var compound = try RTCPCompound(parsing: bytes.span)
        var packet: ApplicationPacket?
        var begin = 0
        while let next = try compound.next() {
            guard case .unknown(let unknown) = next else { continue }
            begin = unknown.body.lowerBound - 4
            packet = ApplicationPacket(unknown, in: bytes.span)
        }
        let status = packet.flatMap { $0.name == StationStatus.packetName ? StationStatus($0.data) : nil }
        #expect((status == nil) == (vector.refused != nil))
        guard let status, let packet else { return }
        #expect(StatusVector.Meaning(status, of: packet.ssrc) == vector.meaning)
        guard vector.name != "reserved-bits" else { return }
        let written = ApplicationPacket(ssrc: packet.ssrc, name: StationStatus.packetName, data: status.data)
        #expect([UInt8](capacity: written.byteCount) { written.write(into: &$0) } == [UInt8](bytes[begin...]))
    }

    @Test func allKindsAreThere() throws {
        #expect(try StatusVector.all().count(where: { $0.refused == nil }) >= 8)
        #expect(try StatusVector.all().count(where: { $0.refused != nil }) >= 6)
    }

    /// A session skips what it cannot read, and takes the report before it.
    @Test func aSessionReadsThemAll() throws {
        for vector in try StatusVector.all() {
            var session = session(1, RTPSessionConfiguration(remotes: [bob]))
            #expect(session.receive(try vector.bytes(), from: bob, at: seconds(1)) == .control, "\(vector.name)")
            #expect(session.participants(at: seconds(1)).map(\.ssrc) == [SSRC(0x2222_2222)], "\(vector.name)")
        }
    }
}

/// A pair of files in Protocol/vectors/status.
struct StatusVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Meaning: Decodable, Hashable, Sendable {
        struct Playout: Decodable, Hashable, Sendable {
            var source: UInt32
            /// In 1/255.
            var missing: Int
            var highest: UInt16
        }

        var sender: UInt32
        var transmitting, brief, answersGoodbye: Bool
        var output: String
        /// In units of 100 ms.
        var nextReport: Int?
        var lastSent: UInt16?
        var playouts: [Playout]

        init(_ status: StationStatus, of sender: SSRC) {
            self.sender = sender.rawValue
            transmitting = status.isTransmitting
            brief = status.isBrief
            output = "\(status.output)"
            nextReport = status.nextReport.map { Int($0 / .milliseconds(100)) }
            answersGoodbye = status.answersGoodbye
            lastSent = status.lastSent?.rawValue
            playouts = status.playouts.map {
                Playout(
                    source: $0.source.rawValue, missing: Int(($0.missingShare * 255).rounded()),
                    highest: $0.highestSequenceNumber.rawValue)
            }
        }
    }

    var meaning: Meaning?
    var refused: String?
    private(set) var name = ""

    private enum CodingKeys: CodingKey { case meaning, refused }

    var testDescription: String { name }

    private static let folder = VectorFolder("status")

    /// Returns all vectors, one or more.
    static func all() throws -> [Self] {
        try folder.vectors { $0.name = $1.deletingPathExtension().lastPathComponent }
    }

    func bytes() throws -> [UInt8] { try Self.folder.bytes(of: name) }
}
