import Foundation
import TenfourAudioCore
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourChannelKeys
@testable import TenfourPairing

/// The messages between a station and a relay in Protocol/vectors/pairing, which another implementation has written.
struct RendezvousMessageTests {
    private struct Inputs: Decodable {
        var number: UInt32
        var nonce, cookie, initiator, stationSecret, relaySecret, agreement, channel, passKey: String
    }

    private let inputs: Inputs
    private let station: KeyShare
    private let relay: KeyShare
    private let pass: ChannelPass
    private let vectors: [(name: String, message: RendezvousMessage)]
    private var randomness = SeededRandom(seed: 9)

    init() throws {
        let inputs = try JSONDecoder().decode(Inputs.self, from: Data(Self.bytes("rendezvous.json")))
        let number = try #require(RendezvousNumber(rawValue: inputs.number))
        let nonce: UInt128 = hex(inputs.nonce).span.number(at: 0)
        let a: UInt64 = hex(inputs.initiator).span.number(at: 0)
        let cookie = Cookie(parsing: hex(inputs.cookie).span, at: 0)
        station = KeyShare(SecretBytes(copying: hex(inputs.stationSecret).span))
        relay = KeyShare(SecretBytes(copying: hex(inputs.relaySecret).span))
        pass = try #require(ChannelPass(bytes: hex(inputs.channel + inputs.passKey)))
        let sealed = try #require(SealedPass(pass, for: station.point, by: relay))
        vectors = [
            ("place", .place(nonce: nonce, cookie, share: station.point)),
            ("number", .number(nonce: nonce, .number(number, seconds: 300))),
            ("number-full", .number(nonce: nonce, .refused(.full))),
            ("number-too-many", .number(nonce: nonce, .refused(.tooMany))),
            ("meet", .meet(nonce: nonce, cookie, number, initiator: a)),
            ("met", .met(nonce: nonce, initiator: a, .met)),
            ("met-wait", .met(nonce: nonce, initiator: a, .wait)),
            ("pass", .pass(sealed)),
            ("leave", .leave(nonce: nonce, cookie, share: station.point)),
        ]
        self.inputs = inputs
    }

    @Test func eachMessageHasTheBytesOfItsVector() {
        for (name, message) in vectors {
            let bytes = Self.bytes("\(name).bin")
            #expect(message.bytes == bytes, "\(name)")
            #expect(parsed(bytes) == message, "\(name)")
        }
        let agreement = relay.agreement(with: station.point)?.array
        #expect(agreement == hex(inputs.agreement))
    }

    @Test func otherLengthsHeadersAndFieldsAreRefused() {
        for (name, message) in vectors {
            let bytes = message.bytes
            for length in 0..<200 where length != bytes.count {
                let other = Array((bytes + [UInt8](repeating: 0, count: 200)).prefix(length))
                #expect(parsed(other) == nil, "\(name), \(length) bytes")
            }
            for place in 0..<4 {
                var other = bytes
                other[place] ^= 0x80
                #expect(parsed(other) == nil, "\(name), byte \(place)")
            }
        }
        let zeros: [(String, Range<Int>)] = [
            ("place", 72..<128), ("number", 26..<28), ("number-full", 20..<26), ("number-full", 27..<28),
            ("meet", 52..<128), ("met", 29..<32),
        ]
        for (name, range) in zeros {
            for place in range {
                var other = Self.bytes("\(name).bin")
                other[place] = 1
                #expect(parsed(other) == nil, "\(name), byte \(place)")
            }
        }
        for (name, place, values) in [("number-full", 26, [0, 3, 255]), ("met", 28, [0, 6, 255])] {
            for value in values {
                var other = Self.bytes("\(name).bin")
                other[place] = UInt8(value)
                #expect(parsed(other) == nil, "\(name), \(value)")
            }
        }
    }

    @Test func aNumberHasSixDigits() {
        for (number, isValid) in [(99_999, false), (100_000, true), (999_999, true), (1_000_000, false)] {
            #expect((RendezvousNumber(rawValue: UInt32(number)) != nil) == isValid)
            var meet = Self.bytes("meet.bin")
            for place in 0..<4 { meet[40 + place] = UInt8(truncatingIfNeeded: number >> (24 - 8 * place)) }
            #expect((parsed(meet) != nil) == isValid, "\(number)")
        }
    }

    @Test mutating func aNumberIsReadAsItIsShown() {
        for text in ["482 913", "482913", " 482-913 "] {
            #expect(RendezvousNumber(typed: text)?.rawValue == 482_913, "\(text)")
        }
        for text in ["48291", "4829130", "082913", "4829१3", "48291a", "+82913", "", "acorn"] {
            #expect(RendezvousNumber(typed: text) == nil, "\(text)")
        }
        #expect(RendezvousNumber(rawValue: 482_013)?.description == "482 013")
        for _ in 0..<1_000 {
            let number = RendezvousNumber(using: &randomness)
            #expect(RendezvousNumber(typed: number.description) == number)
        }
    }

    @Test mutating func onlyTheStationOpensThePass() throws {
        let sealed = try #require(SealedPass(pass, for: station.point, using: &randomness))
        let opened = sealed.opened(by: station)
        #expect(opened == pass)
        let other = sealed.opened(by: KeyShare(using: &randomness))
        #expect(other == nil)
        let bytes = RendezvousMessage.pass(sealed).bytes
        for place in 4..<bytes.count {
            var changed = bytes
            changed[place] ^= 1
            guard case .pass(let read)? = parsed(changed) else { continue }
            let opened = read.opened(by: station)
            #expect(opened == nil, "byte \(place)")
        }
        let again = try #require(SealedPass(pass, for: station.point, using: &randomness))
        #expect(again != sealed, "each pass has a share of its own")
    }

    @Test mutating func aShareOfLowOrderIsRefused() {
        let zero = SharePoint(Bytes32([UInt8](repeating: 0, count: 32).span))
        #expect(SealedPass(pass, for: zero, using: &randomness) == nil)
        var bytes = Self.bytes("pass.bin")
        for place in 4..<36 { bytes[place] = 0 }
        guard case .pass(let read)? = parsed(bytes) else { return #expect(Bool(false), "not read") }
        let opened = read.opened(by: station)
        #expect(opened == nil)
    }

    private func parsed(_ bytes: [UInt8]) -> RendezvousMessage? { RendezvousMessage(parsing: bytes.span) }

    private static func bytes(_ name: String) -> [UInt8] {
        Folder.bytes(of: Repository.path("Protocol/vectors/pairing/\(name)"))
    }
}
