import Foundation
import TenfourChannelKeys
import TestSupport
import Testing

@testable import TenfourPairing

/// The messages of Protocol/vectors/pairing, which another implementation has written.
struct PairingVectorTests {
    private struct Inputs: Decodable {
        var words, link, initiator, responder, initiatorScalar, responderScalar, generator, key: String
    }

    private let inputs: Inputs
    private let keys: PairingKeys
    private let shares: [[UInt8]]
    private let session: [UInt8]

    init() throws {
        let inputs = try JSONDecoder().decode(Inputs.self, from: Data(Self.bytes("inputs.json")))
        let session = hex(inputs.initiator + inputs.responder)
        let password = try PairingWords(typed: inputs.words).password
        let runs = [inputs.initiatorScalar, inputs.responderScalar].map { scalar in
            CPace(
                password: password, channel: PairingKeys.channel, session: session,
                scalar: SecretBytes(copying: hex(scalar).span))
        }
        let (initiatorShare, responderShare) = (runs[0].share, runs[1].share)
        let responderKey = runs[1].key(with: initiatorShare.span, as: .responder)
        let initiatorKey = runs[0].key(with: responderShare.span, as: .initiator)
        let key = try #require(initiatorKey)
        #expect(responderKey == key)
        #expect(key.array == hex(inputs.key))
        let generator = CPace.generator(password: password, channel: PairingKeys.channel, session: session)
        #expect(generator.array == hex(inputs.generator))
        self.inputs = inputs
        self.session = session
        shares = [initiatorShare, responderShare]
        keys = PairingKeys(key, session: session, initiatorShare: shares[0], responderShare: shares[1])
    }

    @Test func eachMessageHasTheBytesOfItsVector() throws {
        let bodies: [(String, PairingMessage.Kind, [UInt8])] = [
            ("challenge", .challenge, []), ("share", .share, shares[0]), ("share-reply", .shareReply, shares[1]),
            ("confirmation", .confirmation, keys.initiatorTag.array),
            ("refusal-wrong-words", .refusal, [PairingRefusal.wrongWords.rawValue, 2, 0, 0]),
            ("refusal-void", .refusal, [PairingRefusal.void.rawValue, 0, 0, 0]),
        ]
        for (name, kind, body) in bodies {
            #expect(message(kind).bytes(body) == Self.bytes("\(name).bin"), "\(name)")
        }
        let hello = PairingMessage(.hello, initiator: message(.hello).initiator)
        #expect(hello.bytes() == Self.bytes("hello.bin"))
        #expect(hello.session.prefix(8) == session.prefix(8))
        #expect(keys.link(Array(inputs.link.utf8), message(.link)) == Self.bytes("link.bin"))
        #expect(keys.receipt(message(.receipt)) == Self.bytes("receipt.bin"))
    }

    @Test func eachVectorIsRead() throws {
        let kinds: [(String, PairingMessage.Kind)] = [
            ("hello", .hello), ("challenge", .challenge), ("share", .share), ("share-reply", .shareReply),
            ("confirmation", .confirmation), ("link", .link), ("receipt", .receipt), ("refusal-void", .refusal),
        ]
        for (name, kind) in kinds {
            let bytes = Self.bytes("\(name).bin")
            #expect(parsed(bytes)?.kind == kind)
            for length in 0..<bytes.count where kind != .link { #expect(parsed(Array(bytes[..<length])) == nil) }
            for place in 0..<4 {
                var other = bytes
                other[place] ^= 0x80
                #expect(parsed(other) == nil)
            }
        }
        let link = Self.bytes("link.bin")
        let opened = keys.openedLink(link.span)
        #expect(opened == Array(inputs.link.utf8))
        for place in link.indices {
            var other = link
            other[place] ^= 1
            let opened = keys.openedLink(other.span)
            #expect(opened == nil, "byte \(place)")
        }
        let isReceipt = keys.isReceipt(Self.bytes("receipt.bin").span)
        #expect(isReceipt)
    }

    private func message(_ kind: PairingMessage.Kind) -> PairingMessage {
        PairingMessage(
            kind, initiator: UInt64(inputs.initiator, radix: 16)!, responder: UInt64(inputs.responder, radix: 16)!)
    }

    private func parsed(_ bytes: [UInt8]) -> PairingMessage? { PairingMessage(parsing: bytes.span) }

    private static func bytes(_ name: String) -> [UInt8] {
        Folder.bytes(of: Repository.path("Protocol/vectors/pairing/\(name)"))
    }
}
