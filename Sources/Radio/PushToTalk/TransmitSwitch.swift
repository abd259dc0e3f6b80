public import TenfourAudioCore

/// A switch outside of the terminal: a key of an input device, a GPIO pin, a pedal.
///
/// `MicrophoneLease.attach` starts a switch and makes it a holder of the microphone. A switch that goes away while it is
/// pressed must report `gone`.
public protocol TransmitSwitch: Sendable {
    /// The name in messages, such as `evdev:KEY_F13`. Two switches of one session have different names.
    var name: String { get }

    /// Starts to report. `report` may be called on any thread, but never on two at once. Called once.
    func start(_ report: @escaping @Sendable (TransmitSwitchEvent) -> Void)

    /// Ends the reports. `report` is not called after the return.
    func stop()
}

/// A change of a switch.
public struct TransmitSwitchEvent: Hashable, Sendable {
    public var change: Change
    /// The time of the change by CLOCK_MONOTONIC; the kernel's time of the event if the device has one.
    public var time: Instant

    public enum Change: Hashable, Sendable {
        case pressed, released
        /// The device was unplugged, or cannot be read. It releases the microphone at once.
        case gone
        /// The device is there again, and not pressed.
        case back
    }

    public init(_ change: Change, at time: Instant) {
        self.change = change
        self.time = time
    }
}
