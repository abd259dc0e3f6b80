public import TenfourAudioCore

/// A change of a source: its key went down or up, or its devices went or came back.
///
/// `pressed` and `released` take turns, and `pressed` comes first. Before `gone`, a held key is released. The first
/// event of a source is `back` or `gone`.
public struct PTTEvent: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
        /// The first key of the source's devices went down.
        case pressed
        /// The last key that was held went up, or its device is gone.
        case released
        /// No device of the source can be read now. The error names the reason and the remedy. The device is looked for
        /// again, and `gone` is repeated if the reason changes.
        case gone(PTTDeviceError)
        /// These devices are read from now on; none was before. The key counts as released.
        case back([PTTDeviceInfo])
        /// One more device is read, or one of several is gone. These are read now. A key that is held stays held, unless
        /// `released` came before.
        case changed([PTTDeviceInfo])
    }

    public var change: Change
    /// The moment of the change by CLOCK_MONOTONIC. For `pressed` and `released` it is the kernel's time of the event
    /// where the kernel gives one (evdev, GPIO), otherwise the time at which it was read.
    public var time: Instant

    public init(_ change: Change, at time: Instant) { (self.change, self.time) = (change, time) }
}

/// A device that is read.
public struct PTTDeviceInfo: Hashable, Sendable {
    /// The name that the device gives itself, made safe to display.
    public var name: String
    /// The path of the device's file, or `gpio:` and the name of the line.
    public var path: String
    /// Whether the key was already down when the device was found. Such a key counts only after it has been released. A
    /// GPIO line that is wired the other way round shows this, too (`,active-low`).
    public var isHeld = false

    public init(name: String, path: String, isHeld: Bool = false) {
        (self.name, self.path, self.isHeld) = (String(fromPeer: name), path, isHeld)
    }
}

/// The reason why a device of a source cannot be used. The text is the whole message: the problem and its remedy.
public struct PTTDeviceError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The argument is wrong; waiting does not help.
        case invalid
        /// A library that is loaded on demand is not installed.
        case noLibrary
        case notFound
        /// The device is of another kind, or lacks the key or the button.
        case unsuitable
        /// The user may not open the device.
        case notPermitted
        /// Another program has taken the device.
        case busy
        /// Another call failed.
        case failed
    }

    public let kind: Kind
    public let description: String

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    static func invalid(_ description: String) -> Self { Self(.invalid, description) }
}
