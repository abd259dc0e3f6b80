import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// A relay that pairs stations sends no more bytes than it has received, and none to an address that has not shown that it
/// receives there, whatever comes.
struct PairingByteTests {
    /// Tools/test --long sends a million datagrams.
    private static let count = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 200_000 : 1_000_000

    @Test func theRelayMultipliesNothing() {
        let room = RelayHarness(.pairing())
        var randomness = SeededRandom(seed: 12)
        let visitors = (0..<12).map { RelayVisitor(at: .host($0), seed: UInt64($0)) }
        let shares = (0..<20).map { _ in KeyShare(using: &randomness).point }
        var numbers = (0..<4).map { _ in RendezvousNumber(using: &randomness) }
        var known: Set<Endpoint> = []
        var passedCount = 0
        for _ in 0..<Self.count {
            let visitor = visitors[Int.random(in: visitors.indices, using: &randomness)]
            let (bytesIn, bytesOut) = (room.bytesIn, room.bytesOut)
            var mayAnswer = true
            switch Int.random(in: 0..<8, using: &randomness) {
            case 0 where visitor.endpoint != .host(11):
                visitor.hello(room)
                known.insert(visitor.endpoint)
            case 1, 2: visitor.place(shares[Int.random(in: shares.indices, using: &randomness)], room)
            case 3, 4:
                let number = numbers[Int.random(in: numbers.indices, using: &randomness)]
                visitor.meet(number, run: .random(in: 1...3, using: &randomness), room)
            case 5, 6:
                let reception = room.receive(message(&randomness), from: visitor.endpoint)
                if reception == .handled { passedCount += 1 }
            default:
                mayAnswer = false
                let count = Int.random(in: 0..<200, using: &randomness)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &randomness) }
                room.receive([0x70] + bytes, from: visitor.endpoint)
            }
            let (received, sent) = (room.bytesIn - bytesIn, room.bytesOut - bytesOut)
            #expect(sent <= received && (mayAnswer || sent == 0), "\(sent) bytes for \(received)")
            #expect(known.isSuperset(of: room.inbox.keys))
            for other in visitors {
                for case .number(_, .number(let number, seconds: _)) in other.take(room).rendezvous {
                    numbers[Int.random(in: numbers.indices, using: &randomness)] = number
                }
            }
            if Int.random(in: 0..<4, using: &randomness) == 0 { room.run(.milliseconds(200)) }
        }
        #expect(passedCount > Self.count / 1_000)
        print("\(room.bytesIn) bytes in, \(room.bytesOut) bytes out, \(passedCount) messages passed on")
    }

    @Test func theRelaySeesNeitherTheWordsNorTheLink() throws {
        let room = RelayHarness(.pairing())
        var seen: [[UInt8]] = []
        room.received = { seen.append($1) }
        let home = WaitingStation(at: .host(1), from: .start, seed: 1)
        let visitor = MeetingStation(at: .host(2), seed: 2)
        var isTyped = false
        while visitor.link == nil, room.now < .start + Duration.seconds(5) {
            try home.step(room)
            visitor.step(room)
            seen += room.inbox.values.flatMap(\.self)
            room.run(.milliseconds(50))
            guard !isTyped, let number = home.number else { continue }
            visitor.type(number, home.words, at: room.now)
            isTyped = true
        }
        let link = try #require(visitor.link)
        let pass = try #require(link.pass).bytes
        let words = home.words.text.split(separator: " ")
        let secrets = [Array(link.text().utf8), pass, Array(pass[16...])] + words.map { Array($0.utf8) }
        #expect(seen.count > 15)
        for secret in secrets {
            #expect(!seen.contains { $0.contains(secret) })
            #expect(!"\(room.relay.status)".utf8.contains(secret))
        }
    }

    /// Returns a well-formed message of one of three runs.
    private func message(_ randomness: inout SeededRandom) -> [UInt8] {
        let lengths = [20, 20, 52, 52, 52, Int.random(in: 69...1_092, using: &randomness), 36, 24]
        let kind = Int.random(in: 1...8, using: &randomness)
        let run = UInt8.random(in: 1...3, using: &randomness)
        return [0x70, 1, UInt8(kind), 0, 0, 0, 0, 0, 0, 0, 0, run]
            + [UInt8](repeating: 0, count: lengths[kind - 1] - 12)
    }
}
