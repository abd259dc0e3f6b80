import Foundation
import TestSupport
import Testing

@testable import TenfourChannelKeys

/// The Noise handshake against a published conversation, and its failures.
struct NoiseTests {
    /// Protocol/vectors/members/noise-ikpsk2.json, in the form of Noise's test vectors.
    private struct Vector: Decodable {
        struct Message: Decodable { var payload, ciphertext: String }

        var initPrologue, initStatic, initEphemeral, initRemoteStatic, respStatic, respEphemeral: String
        var initPsks: [String]
        var messages: [Message]
        /// The published hash, and the hash of the whole handshake (see `about` in the file).
        var handshakeHash, finalHash: String
    }

    private static let vector: Vector = {
        let file = URL(filePath: Repository.path("Protocol/vectors/members/noise-ikpsk2.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode(Vector.self, from: Data(contentsOf: file)) } catch {
            fatalError("noise-ikpsk2.json cannot be read: \(error)")
        }
    }()

    private static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: hex(text).span) }

    private let vector = Self.vector
    private let presharedKey = Self.secret(Self.vector.initPsks[0])
    private let responderPair = KeyShare(Self.secret(Self.vector.respStatic))
    private let initiator = Self.initiator
    private let prologue = hex(Self.vector.initPrologue)

    private static let initiator: NoiseInitiator = {
        let (prologue, payload) = (hex(vector.initPrologue), hex(vector.messages[0].payload))
        let initiator = NoiseInitiator(
            prologue: prologue.span, staticKey: KeyShare(secret(vector.initStatic)),
            ephemeral: KeyShare(secret(vector.initEphemeral)), responder: KeyShare(secret(vector.respStatic)).point,
            payload: payload.span)
        guard let initiator else { preconditionFailure("the keys of the vector are not weak") }
        return initiator
    }()

    private func responder(_ message: [UInt8], _ prologue: [UInt8]? = nil, _ pair: KeyShare? = nil) -> NoiseResponder? {
        let prologue = prologue ?? self.prologue
        return NoiseResponder(
            prologue: prologue.span, staticKey: pair ?? responderPair, message: message.span)
    }

    private func answer(of responder: NoiseResponder, presharedKey: SecretBytes) -> (message: [UInt8], keys: NoiseKeys?)
    {
        var keys: NoiseKeys?
        let payload = hex(vector.messages[1].payload)
        let message = [UInt8](capacity: 200) {
            keys = responder.answer(
                payload.span, ephemeral: KeyShare(Self.secret(vector.respEphemeral)), presharedKey: presharedKey,
                into: &$0)
        }
        return (message, keys)
    }

    @Test func theHandshakeIsThePublishedOne() throws {
        #expect(responderPair.point.bytes == hex(vector.initRemoteStatic))
        #expect(initiator.message == hex(vector.messages[0].ciphertext))
        let responder = try #require(self.responder(initiator.message))
        #expect(responder.payload == hex(vector.messages[0].payload))
        #expect(responder.initiator == KeyShare(Self.secret(vector.initStatic)).point)
        let (message, keys) = answer(of: responder, presharedKey: presharedKey)
        #expect(message == hex(vector.messages[1].ciphertext))
        let answer = initiator.open(message.span, presharedKey: presharedKey)
        let opened = try #require(answer)
        #expect(opened.payload == hex(vector.messages[1].payload))
        #expect(opened.keys == keys)
        // The first message of each direction after the handshake shows that the two keys are the published ones.
        let transport = [(opened.keys.initiator, vector.messages[2]), (opened.keys.responder, vector.messages[3])]
        for (key, message) in transport {
            let (payload, none) = (hex(message.payload), [UInt8]())
            let sealed = [UInt8](capacity: 100) { output in
                key.withBytes { AEAD.seal(payload.span, counter: 0, data: none.span, key: $0, into: &output) }
            }
            #expect(sealed == hex(message.ciphertext))
        }
    }

    /// The published hash is that of the handshake up to the responder's ephemeral key, before the pre-shared key and the
    /// payload of message 2 are mixed in. The hash of the whole handshake, which the session keys depend on, is another
    /// implementation's.
    @Test func theHandshakeHashIsThatOfOtherImplementations() throws {
        let responder = try #require(self.responder(initiator.message))
        let (message, keys) = answer(of: responder, presharedKey: presharedKey)
        #expect(try #require(keys).hash == hex(vector.finalHash))
        var state = NoiseSymmetricState(
            protocolName: "Noise_IKpsk2_25519_ChaChaPoly_SHA256", prologue: prologue.span)
        let sent = initiator.message
        for part in [responderPair.point.bytes, Array(sent[..<32]), Array(sent[32..<80]), Array(sent[80...])] {
            state.mixHash(part.span)
        }
        state.mixHash(message.span.extracting(..<32))
        #expect(state.hash == hex(vector.handshakeHash))
    }

    @Test func aChangedBitOfEitherMessageOrPrologueIsRefused() throws {
        for index in initiator.message.indices {
            var changed = initiator.message
            changed[index] ^= 1
            #expect(responder(changed) == nil, "byte \(index)")
        }
        #expect(responder(Array(initiator.message.dropLast())) == nil)
        #expect(responder(initiator.message, prologue + [0]) == nil)
        let responder = try #require(self.responder(initiator.message))
        let (message, _) = answer(of: responder, presharedKey: presharedKey)
        for index in message.indices {
            var changed = message
            changed[index] ^= 1
            #expect(initiator.open(changed.span, presharedKey: presharedKey) == nil, "byte \(index)")
        }
        #expect(initiator.open(message.span.extracting(..<40), presharedKey: presharedKey) == nil)
    }

    @Test func onlyTheStaticAndThePresharedKeyOpen() throws {
        #expect(responder(initiator.message, nil, KeyShare(Self.secret(vector.respEphemeral))) == nil)
        let responder = try #require(self.responder(initiator.message))
        let other = Self.secret(vector.initStatic)
        let (message, _) = answer(of: responder, presharedKey: other)
        #expect(initiator.open(message.span, presharedKey: presharedKey) == nil)
        #expect(initiator.open(message.span, presharedKey: other) != nil)
    }

    @Test func keysOfLowOrderAreRefused() {
        let zeros = [UInt8](repeating: 0, count: 200)
        let weak = SharePoint(parsing: zeros.span, at: 0)
        #expect(
            NoiseInitiator(
                prologue: prologue.span, staticKey: responderPair, ephemeral: responderPair, responder: weak,
                payload: prologue.span) == nil)
        #expect(responder(Array(zeros[..<120])) == nil)
        #expect(initiator.open(zeros.span, presharedKey: presharedKey) == nil)
    }
}
