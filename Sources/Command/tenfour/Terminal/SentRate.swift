import TenfourRadio
import TenfourSession

/// Measures the payload's bit rate over the last second.
struct SentRate {
    private(set) var kilobits = 0.0
    private var byteCount = 0
    private var elapsed = Duration.zero
    private var session: ObjectIdentifier?

    mutating func update(_ snapshot: RadioSnapshot, of session: RadioSession) {
        if self.session != ObjectIdentifier(session) {
            (self.session, kilobits) = (ObjectIdentifier(session), 0)
            (byteCount, elapsed) = (snapshot.sendStream.byteCount, snapshot.elapsed)
        }
        let passed = (snapshot.elapsed - elapsed) / .seconds(1)
        guard passed >= 1 else { return }
        kilobits = Double(snapshot.sendStream.byteCount - byteCount) * 8 / passed / 1_000
        byteCount = snapshot.sendStream.byteCount
        elapsed = snapshot.elapsed
    }
}
