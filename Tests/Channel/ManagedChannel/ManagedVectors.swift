import Foundation
import TenfourChannelKeys
import TestSupport

@testable import TenfourManagedChannel

/// The vectors `managed-*` of Protocol/vectors/members, which another implementation has written.
struct ManagedVectors: Decodable {
    var channelID, mediaRoot, ownerHash, groupSecret, prekeySecret, ephemeralSecret, announcementKey: String
    var seeds, publicKeys, agreementKeys, letters, words, comparisonWords: [String: String]
    var added: UInt32

    static let written: Self = {
        do {
            return try JSONDecoder().decode(
                Self.self, from: Data(contentsOf: URL(filePath: "\(folder)/managed.json")))
        } catch {
            fatalError("managed.json cannot be read: \(error)")
        }
    }()

    private static let folder = Repository.path("Protocol/vectors/members")

    static func bytes(_ name: String) -> [UInt8] { Folder.bytes(of: "\(folder)/managed-\(name).bin") }

    func identity(_ name: String) -> MemberIdentity {
        MemberIdentity(seed: LockedBytes(copying: hex(seeds[name]!).span))
    }

    var channel: UInt128 { UInt128(channelID, radix: 16)! }
}

/// Returns the bytes that the hexadecimal digits stand for.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension Bytes32 {
    var array: [UInt8] { bytes.array }
}

extension LockedBytes {
    var array: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
