import TenfourChannelKeys
import Testing

/// The sizes of control packets, and those that are refused.
struct ControlPacketTests {
    @Test func nobodyIsAnsweredWithMoreThanCame() throws {
        let sizes = try [
            "hello", "cookie", "join", "welcome", "refusal-full", "renewal", "renewed", "path-challenge",
            "unknown-session", "info",
        ]
        .map { ($0, try KeysVector.bytes("session-\($0)").count) }
        let size = Dictionary(uniqueKeysWithValues: sizes)
        #expect(size["cookie"]! <= size["hello"]!)
        #expect(size["welcome"]! <= size["join"]! && size["refusal-full"]! <= size["join"]!)
        #expect(size["renewed"]! <= size["renewal"]!)
        #expect(size["path-challenge"]! <= size["renewal"]!)
        // The shortest datagram with a record has 37 bytes, as a record has at least one byte.
        #expect(size["unknown-session"]! <= 37)
    }

    @Test(arguments: try KeysVector.all(.control))
    func aBadPacketIsRefusedForItsReason(vector: KeysVector) throws {
        let bytes = try vector.bytes()
        do {
            _ = try ControlPacket(parsing: bytes.span)
            Issue.record("parsed without an error")
        } catch {
            #expect(error.caseName == vector.refused)
        }
    }
}
