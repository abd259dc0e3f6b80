import Foundation
import TenfourChannelKeys
import TestSupport
import Testing

/// A test vector of Protocol/vectors/keys, made by another implementation: bytes and their meaning.
struct KeysVector: Decodable, Sendable, CustomTestStringConvertible {
    enum Kind: String, Decodable { case link, session, control, srtp, inputs }

    var kind: Kind
    /// The name of the parse error, for bytes that must be refused.
    var refused: String?
    // Fields of a link.
    var host: String?
    /// The relays as text; nil in vectors with at most one.
    var relays: [String]?
    var port: UInt16?
    var name: String?
    var text: String?
    var talkJoin: String?
    var listenJoin: String?
    var talkChannelID: String?
    var listenChannelID: String?
    var listenText: String?
    var listenWords: String?
    /// The secret key of the relay that has made the link's pass.
    var relayKey: String?
    // Fields of an SRTP packet.
    var suite: UInt8?
    var master: String?
    var rolloverCounter: UInt32?
    var plain: String?
    var fromSession: Bool?

    private(set) var file = URL(filePath: "/")
    private enum CodingKeys: CodingKey {
        case kind, refused, host, relays, port, name, text, talkJoin, listenJoin, talkChannelID, listenChannelID,
            listenText
        case listenWords, relayKey, suite, master, rolloverCounter, plain, fromSession
    }

    var testDescription: String { file.deletingPathExtension().lastPathComponent }

    func bytes() throws -> [UInt8] { try Self.bytes(testDescription) }

    static func bytes(_ name: String) throws -> [UInt8] {
        let url = folder.appending(path: "\(name).bin")
        return Array(try FileHandle(forReadingFrom: url).readToEnd() ?? Data())
    }

    static let folder = URL(filePath: Repository.path("Protocol/vectors/keys"))

    /// Returns the vectors of a kind, one or more.
    static func all(_ kind: Kind) throws -> [Self] {
        let all: [Self] = try VectorFolder("keys").vectors { $0.file = $1 }
        return all.filter { $0.kind == kind }
    }
}

/// The inputs from which the packets in session.json were made.
struct SessionInputs: Decodable {
    var link, nonce, cookieSecret, memberShareSecret, relayShareSecret, session, token, receipt, challenge,
        report: String
    var epoch, memberID, memberName: String
    var microphone: UInt8
    var infoCounter: UInt64
    var joined, microphoneChanged, rosterRevision, rosterPrevious, otherCount, memberNumber, goneNumber, unnamedNumber,
        position, total: UInt32
    var generation: Int
    var milliseconds: UInt64
    var lease, sequenceNumber: UInt16
    var ssrc, rolloverCounter, packetsPerSecond, bitsPerSecond: UInt32

    static let written: Self = {
        do {
            return try JSONDecoder().decode(
                Self.self, from: Data(contentsOf: KeysVector.folder.appending(path: "session.json")))
        } catch {
            fatalError("session.json cannot be read: \(error)")
        }
    }()
}

/// Returns the bytes that the hexadecimal digits stand for; other characters are skipped.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func number(_ text: String) -> UInt128 { UInt128(text, radix: 16)! }

/// A random number generator that returns the numbers of `draws`, and traps after the last one.
struct WrittenDown: RandomNumberGenerator {
    var draws: [UInt64]

    /// Returns each byte as one number.
    init(bytes: [UInt8]) { draws = bytes.map(UInt64.init) }

    /// Returns a 128-bit number in two halves, the low half first, and then each byte as one number.
    init(_ number: UInt128, bytes: [UInt8]) {
        draws = [UInt64(truncatingIfNeeded: number), UInt64(truncatingIfNeeded: number >> 64)] + bytes.map(UInt64.init)
    }

    mutating func next() -> UInt64 { draws.removeFirst() }
}

extension SecretBytes {
    var array: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}

extension Error {
    /// The name of the enum case without its values: `length` for `.length(3)`.
    var caseName: String { String("\(self as Any)".prefix { $0 != "(" }) }
}
