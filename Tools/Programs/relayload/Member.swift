import TenfourChannelKeys
import TenfourFloor

/// A member that has joined a channel by HELLO, COOKIE, JOIN and WELCOME, and has renewed its lease once.
struct Member {
    private var sealer: RecordSealer
    private var opener: RecordOpener
    /// The newest receipt of the relay, which only a peer at our address receives.
    private var receipt: UInt64 = 0
    private(set) var tagger: HopTagger

    struct Refused: Error, CustomStringConvertible {
        var description: String {
            "the relay admitted no member: start the relay with the configuration that relayload prints"
        }
    }

    init(_ key: JoinKey, relay: RelayID, over socket: BoundSocket) throws {
        var generator = CSPRNG()
        var joining = JoinAttempt(key, relay: relay, using: &generator)
        for _ in 0..<12 {
            let question = [UInt8](capacity: 128) { joining.write(into: &$0) }
            socket.send(question.span)
            guard let answer = socket.receive() else { continue }
            switch joining.receive(answer.span) {
            case .welcome(_, let keys):
                sealer = keys.sealer(for: .member)
                opener = keys.opener(for: .member)
                tagger = keys.hopTagger(for: .member)
                renew(over: socket)
                // RENEWED confirms that the session exists.
                while receipt == 0, let answer = socket.receive() { take(answer) }
                if receipt != 0 { return }
                throw Refused()
            case .refusal: throw Refused()
            case .cookie, .doubt, .nothing: continue
            }
        }
        throw Refused()
    }

    /// Renews the lease without waiting for the answer.
    mutating func renew(over socket: BoundSocket) {
        while let answer = socket.receive(waits: false) { take(answer) }
        let record = [UInt8](capacity: 128) { sealer.seal(.renewal(token: 1, receipt: receipt), into: &$0) }
        socket.send(record.span)
    }

    mutating func send(_ message: FloorMessage, over socket: BoundSocket) {
        let record = [UInt8](capacity: 128) { sealer.seal(.floor(message), into: &$0) }
        socket.send(record.span)
    }

    private mutating func take(_ answer: [UInt8]) {
        var bytes = answer
        var span = bytes.mutableSpan
        if case .renewed(_, let receipt, _)? = try? opener.open(&span) { self.receipt = receipt }
    }

    /// Sends a media packet or an announcement with a hop tag.
    mutating func send(over socket: BoundSocket, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let datagram = [UInt8](capacity: 256) {
            write(&$0)
            _ = tagger.tag(&$0)
        }
        socket.send(datagram.span)
    }
}
