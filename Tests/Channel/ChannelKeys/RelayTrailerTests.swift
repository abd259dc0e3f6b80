import Foundation
import TestSupport
import Testing

@testable import TenfourChannelKeys

/// The trailers of a relay's datagrams, as the test vectors of trailer.json describe them, and their refusals.
struct RelayTrailerTests {
    private struct Vectors: Decodable {
        struct Datagram: Decodable {
            var file, packetHash: String
            var counter: UInt32
        }

        var relayHop: String
        var datagrams: [Datagram]
    }

    private static func file(_ name: String) -> URL {
        URL(filePath: Repository.path("Protocol/vectors/members/\(name)"))
    }

    /// A member's side.
    private final class Receiver {
        private var checker: TrailerChecker

        init(_ key: TrailerKey) { checker = TrailerChecker(key) }

        var highest: UInt32? { checker.highest }

        func check(_ datagram: [UInt8]) throws(TrailerChecker.Failure) -> Int { try checker.check(datagram.span) }
    }

    private let vectors: Vectors
    private let key: TrailerKey

    init() throws {
        vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: Self.file("trailer.json")))
        key = TrailerKey(SecretBytes(copying: hex(vectors.relayHop).span))
    }

    private func bytes(_ datagram: Vectors.Datagram) throws -> [UInt8] {
        Array(try Data(contentsOf: Self.file("\(datagram.file).bin")))
    }

    /// Returns `packet` with the next trailer of session 7 in `table`.
    private func trailed(_ packet: [UInt8], _ table: inout TrailerTable) -> [UInt8] {
        let datagram = [UInt8](capacity: packet.count + RelayTrailer.byteCount) {
            for byte in packet { $0.append(byte) }
            table.write(for: PacketHash(of: packet.span), to: 7, into: &$0)
        }
        table.used(7)
        return datagram
    }

    @Test func theTrailersAreThoseOfTheVectors() throws {
        var forwarded = TrailerTable(.forwarded)
        var repeated = TrailerTable(.repeated)
        forwarded.insert(key, at: 7)
        repeated.insert(key, at: 7)
        let receiver = Receiver(key)
        for vector in vectors.datagrams {
            let datagram = try bytes(vector)
            let packet = Array(datagram.dropLast(RelayTrailer.byteCount))
            let hash = [UInt8](capacity: 16) { $0.append(number: PacketHash(of: packet.span).value) }
            #expect(hash == hex(vector.packetHash))
            let made = vector.counter < 1 << 31 ? trailed(packet, &forwarded) : trailed(packet, &repeated)
            let isDue = RelayTrailer.isDue(datagram.span)
            #expect(made == datagram && isDue)
            #expect(try receiver.check(datagram) == packet.count)
            #expect(throws: TrailerChecker.Failure.replayed) { try receiver.check(datagram) }
        }
    }

    @Test func aChangedBitIsRefusedAndMovesNoWindow() throws {
        let datagram = try bytes(vectors.datagrams[0])
        let receiver = Receiver(key)
        for index in datagram.indices {
            for bit in 0..<8 {
                var changed = datagram
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: TrailerChecker.Failure.forged) { try receiver.check(changed) }
            }
        }
        for count in 0..<datagram.count {
            #expect(throws: TrailerChecker.Failure.forged) { try receiver.check(Array(datagram[..<count])) }
        }
        #expect(receiver.highest == nil)
        #expect(try receiver.check(datagram) == datagram.count - RelayTrailer.byteCount)
        #expect(receiver.highest == 0)
    }

    @Test func aCounterIsAcceptedOnceWithin1024() throws {
        var table = TrailerTable(.forwarded)
        table.insert(key, at: 7)
        let datagrams = (0...1_024).map { trailed([0x80, UInt8(truncatingIfNeeded: $0)], &table) }
        let receiver = Receiver(key)
        #expect(try receiver.check(datagrams[1_024]) == 2)
        #expect(throws: TrailerChecker.Failure.replayed) { try receiver.check(datagrams[0]) }
        for datagram in datagrams[1...1_023].reversed() { #expect(try receiver.check(datagram) == 2) }
        for datagram in datagrams {
            #expect(throws: TrailerChecker.Failure.replayed) { try receiver.check(datagram) }
        }
        // The other lane is not moved by this one.
        var repeated = TrailerTable(.repeated)
        repeated.insert(key, at: 7)
        let datagram = trailed([0x80, 1], &repeated)
        #expect(try receiver.check(datagram) == 2)
        #expect(receiver.highest == 1_024)
    }

    @Test func theTrailerOfAnotherSessionIsRefused() throws {
        var table = TrailerTable(.forwarded)
        table.insert(TrailerKey(SecretBytes(count: 16) { _ in }), at: 7)
        let datagram = trailed([0x80, 1], &table)
        let receiver = Receiver(key)
        #expect(throws: TrailerChecker.Failure.forged) { try receiver.check(datagram) }
    }

    @Test func aSessionThatWasRemovedHasNoTrailer() {
        var table = TrailerTable(.forwarded)
        for number in [7, 700, 3] { table.insert(key, at: number) }
        table.insert(key, at: 7)
        let has = [700, 8, 70_000].map { table.contains($0) }
        var count = table.count
        #expect(count == 3 && has == [true, false, false])
        table.remove(7)
        table.remove(7)
        count = table.count
        let keys = [7, 3].map { table.key($0) }
        #expect(count == 2 && keys == [nil, key])
        let datagram = trailed([0x80, 1], &table)
        #expect(datagram == [0x80, 1])
    }

    @Test func aCounterThatIsNotSentIsWrittenAgain() {
        var table = TrailerTable(.forwarded)
        table.insert(key, at: 7)
        let hash = PacketHash(of: [UInt8]([0x80, 1]).span)
        let written = (0..<2).map { _ in [UInt8](capacity: 12) { table.write(for: hash, to: 7, into: &$0) } }
        table.used(7)
        let next = [UInt8](capacity: 12) { table.write(for: hash, to: 7, into: &$0) }
        #expect(written[0] == written[1] && written[0].prefix(4) == [0, 0, 0, 0] && next.prefix(4) == [0, 0, 0, 1])
    }

    @Test func onlyWhatTalkersHaveSentNeedsATrailer() {
        for (start, isDue): ([UInt8], Bool) in [
            ([0x80, 111, 0, 0], true), ([0xBF, 111, 0, 0], true), ([99, 1, 8, 0], true), ([99, 1, 13, 0], true),
            ([99, 1, 14, 0], true), ([99, 1, 6, 0], false), ([99, 1, 12, 0], false), ([0x7F, 1, 8, 0], false),
            ([0xC0, 1, 8, 0], false),
        ] {
            let datagram = start + [UInt8](repeating: 0, count: 60)
            let needsTrailer = RelayTrailer.isDue(datagram.span)
            #expect(needsTrailer == isDue, "\(start)")
        }
        let short: [UInt8] = [99, 1, 8]
        let needsTrailer = RelayTrailer.isDue(short.span)
        #expect(!needsTrailer)
    }
}
