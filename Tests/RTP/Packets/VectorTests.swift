import Foundation
import TenfourPackets
import TestSupport
import Testing

/// Protocol/vectors: bytes beside their meaning. What is read must mean that, and where the vector says so, writing the
/// meaning must give the bytes again.
struct VectorTests {
    @Test func thereAreVectorsOfEachKind() throws {
        for kind in Vector.Kind.allCases { #expect(try Vector.all().filter { $0.kind == kind }.count > 10) }
    }

    @Test(arguments: try Vector.all().filter { $0.kind == .rtp })
    func rtpMeansWhatIsWritten(vector: Vector) throws {
        let bytes = try vector.bytes()
        try refusing(vector) { () throws(RTPParseError) in
            let header = try RTPHeader(parsing: bytes.span)
            #expect(RTPMeaning(header) == vector.rtp)
            if let red = vector.red {
                let blocks = try? RedundantPayload(parsing: bytes.span.extracting(header.payload))
                #expect(blocks.map { REDMeaning.all($0, at: header.payload.lowerBound) } == red)
            }
            let payload = bytes[header.payload]
            let written = [UInt8](capacity: 12 + payload.count) {
                header.write(into: &$0)
                for byte in payload { $0.append(byte) }
            }
            #expect((written == bytes) == vector.written)
        }
    }

    @Test(arguments: try Vector.all().filter { $0.kind == .rtcp })
    func rtcpMeansWhatIsWritten(vector: Vector) throws {
        let bytes = try vector.bytes()
        try refusing(vector) { () throws(RTCPParseError) in
            var packets: [RTCPPacket] = []
            var compound = try RTCPCompound(parsing: bytes.span, allowsReducedSize: vector.reducedSize ?? false)
            while let packet = try compound.next() { packets.append(packet) }
            #expect(packets.map(RTCPMeaning.init) == vector.packets)
            let written = [UInt8](capacity: 65_536) { for packet in packets { packet.write(into: &$0) } }
            #expect((written == bytes) == vector.written)
        }
    }

    @Test(arguments: try Vector.all().filter { $0.kind == .opus })
    func opusMeansWhatIsWritten(vector: Vector) throws {
        let bytes = try vector.bytes()
        try refusing(vector) { () throws(OpusPacketError) in
            let packet = try OpusPacket(parsing: bytes.span)
            #expect(OpusMeaning(packet) == vector.opus)
        }
    }

    @Test(arguments: try Vector.all().filter { $0.kind == .sdp })
    func sdpMeansWhatIsWritten(vector: Vector) throws {
        let bytes = try vector.bytes()
        do {
            let description = try SessionDescription(parsing: bytes.span)
            #expect(vector.refused == nil)
            #expect(SDPMeaning(description) == vector.sdp)
            #expect((Array(description.text().utf8) == bytes) == vector.written)
        } catch {
            #expect(error.reason.caseName == vector.refused)
            #expect(error.line == vector.line)
        }
    }

    /// Runs `read`, and expects it to throw exactly where the vector is one of a refusal, and for its reason.
    private func refusing<Failure: Error>(_ vector: Vector, _ read: () throws(Failure) -> Void) throws {
        do {
            try read()
            #expect(vector.refused == nil)
        } catch {
            #expect(error.caseName == vector.refused)
        }
    }
}

/// One pair of files in Protocol/vectors.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    enum Kind: String, Decodable, CaseIterable { case rtp, rtcp, opus, sdp }

    var kind: Kind
    var about: String
    var source: String
    /// Whether our writer makes these bytes from the meaning; nil where there is no meaning or no writer.
    var written: Bool?
    var reducedSize: Bool?
    /// The name of the reason, where the bytes have no meaning.
    var refused: String?
    var line: Int?
    var rtp: RTPMeaning?
    var red: [REDMeaning]?
    var packets: [RTCPMeaning]?
    var opus: OpusMeaning?
    var sdp: SDPMeaning?
    private(set) var file = URL(filePath: "/")

    private enum CodingKeys: CodingKey {
        case kind, about, source, written, reducedSize, refused, line, rtp, red, packets, opus, sdp
    }

    var testDescription: String { file.deletingPathExtension().lastPathComponent }

    func bytes() throws -> [UInt8] {
        // Not `Data(contentsOf:)`, which leaves memory behind where a file is empty.
        let url = file.deletingPathExtension().appendingPathExtension(kind == .sdp ? "sdp" : "bin")
        return Array(try FileHandle(forReadingFrom: url).readToEnd() ?? Data())
    }

    /// Returns all vectors, one or more.
    static func all() throws -> [Vector] { try VectorFolder().vectors { $0.file = $1 } }
}

extension RTCPPacket {
    /// Nothing for a type that this module does not know.
    func write(into datagram: inout OutputSpan<UInt8>) {
        switch self {
        case .senderReport(let report): report.write(into: &datagram)
        case .receiverReport(let report): report.write(into: &datagram)
        case .sourceDescription(let description): description.write(into: &datagram)
        case .goodbye(let goodbye): goodbye.write(into: &datagram)
        case .genericNACK(let nack): nack.write(into: &datagram)
        case .extendedReport(let report): report.write(into: &datagram)
        case .unknown: break
        }
    }
}

extension Hashable {
    /// Of an enumeration: its name without what it carries.
    var caseName: String { String(String(describing: self).prefix { $0 != "(" }) }
}

extension Error {
    var caseName: String { String(String(describing: self).prefix { $0 != "(" }) }
}
