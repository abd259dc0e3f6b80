import TenfourAudioCore
import TenfourPushToTalk

/// The key for emergencies, which must be pressed twice. Reads no clock.
struct EmergencyKey {
    private let lease: MicrophoneLease
    /// The time at which the key was pressed once; nil if it was not.
    private var firstPress: Instant?

    /// The longest time between the two presses.
    private static let pause = Duration.seconds(1)

    init(_ lease: MicrophoneLease) { self.lease = lease }

    /// The key was pressed. Pressed twice within 1 s, it takes the floor from the talker and holds the microphone until
    /// the next toggle; if an emergency does already, that ends. Returns lines for the user.
    mutating func press(at now: Instant) -> [String] {
        guard let first = firstPress, now - first <= Self.pause else {
            firstPress = now
            return [
                "for an emergency, press e twice within 1 s: it takes the floor from the talker, at most once a minute"
            ]
        }
        firstPress = nil
        return lease.toggleEmergency(.session) ? ["emergency: press e twice again to end it"] : []
    }
}
