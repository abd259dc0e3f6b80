import Foundation
import FuzzTargets
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TestSupport
import Testing

/// A trap on bytes from outside is our bug, whatever the bytes. `FuzzTarget.feed` traps where a parser breaks its word.
struct HostileBytesTests {
    /// What Tools/fuzz found worth keeping.
    @Test(arguments: FuzzTarget.allCases)
    func theCorpusTrapsNoParser(target: FuzzTarget) throws {
        let folder = URL(filePath: Repository.path("Tests/TestSupport/Corpus/\(target.rawValue)"))
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            for other in FuzzTarget.allCases { other.feed(bytes.span) }
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func noiseTrapsNoParser(target: FuzzTarget) {
        var randomness = SeededRandom(seed: 10)
        for _ in 0..<(target.isSlowest ? 400 : target.isSlow ? 2_000 : 12_000) {
            let bytes = (0..<Int(randomness.next() % 100)).map { _ in UInt8(truncatingIfNeeded: randomness.next()) }
            target.feed(bytes.span)
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func mutatedVectorsTrapNoParser(target: FuzzTarget) throws {
        var randomness = SeededRandom(seed: 4)
        let all = try Vector.all()
        let own = all.filter { $0.kind.rawValue == target.rawValue }
        let seeds = try (own.isEmpty ? all : own).map { try $0.bytes() }
        for round in 0..<(target.isSlowest ? 400 : own.isEmpty || target == .sdp ? 5_000 : 35_000) {
            var bytes = seeds[round % seeds.count]
            for _ in 0..<(1 + randomness.next() % 4) { mutate(&bytes, &randomness) }
            target.feed(bytes.span)
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ randomness: inout SeededRandom) {
        guard !bytes.isEmpty else {
            bytes.append(UInt8(truncatingIfNeeded: randomness.next()))
            return
        }
        let place = Int(randomness.next() % UInt64(bytes.count))
        switch randomness.next() % 6 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: randomness.next())
        case 1: bytes[place] ^= 1 << UInt8(randomness.next() % 8)
        case 2: bytes[place] = randomness.next() % 2 == 0 ? 0 : 255
        case 3: bytes.removeSubrange(place...)
        case 4: bytes.insert(UInt8(truncatingIfNeeded: randomness.next()), at: place)
        default: bytes.append(contentsOf: bytes[place...].prefix(64))
        }
    }
}

extension FuzzTarget {
    /// Whether each of its inputs is a story.
    fileprivate var isSlow: Bool { [.session, .playout, .relay, .cluster, .prekey, .deposit].contains(self) }
    /// Whether each of its inputs is many stories, or is compared with all words of a list.
    fileprivate var isSlowest: Bool { self == .channel || self == .identity }
}
