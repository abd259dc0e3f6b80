import TenfourChannelKeys

/// Who has joined a channel by HELLO, COOKIE, JOIN and WELCOME, and said that it stays.
struct Member {
    private var sealer: RecordSealer
    private var opener: RecordOpener
    /// What the relay said last that only we have received.
    private var receipt: UInt64 = 0
    private(set) var tagger: HopTagger

    struct Refused: Error, CustomStringConvertible {
        var description: String { "the relay let nobody in" }
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
                // RENEWED: the session lives.
                while receipt == 0, let answer = socket.receive() { take(answer) }
                if receipt != 0 { return }
                throw Refused()
            case .refusal: throw Refused()
            case .cookie, .nothing: continue
            }
        }
        throw Refused()
    }

    /// Does not wait.
    mutating func renew(over socket: BoundSocket) {
        while let answer = socket.receive(waits: false) { take(answer) }
        let record = [UInt8](capacity: 128) { sealer.seal(.renewal(token: 1, receipt: receipt), into: &$0) }
        socket.send(record.span)
    }

    private mutating func take(_ answer: [UInt8]) {
        var bytes = answer
        var span = bytes.mutableSpan
        if case .renewed(_, let receipt, _)? = try? opener.open(&span) { self.receipt = receipt }
    }

    /// Sends a datagram of media or an announcement.
    mutating func send(over socket: BoundSocket, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let datagram = [UInt8](capacity: 256) {
            write(&$0)
            _ = tagger.tag(&$0)
        }
        socket.send(datagram.span)
    }
}
