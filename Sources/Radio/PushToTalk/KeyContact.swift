/// The state of one key, from the events of its input device.
///
/// If the kernel has dropped events (SYN_DROPPED), the events up to the next SYN_REPORT mean nothing, and the state
/// must be read from the device (Documentation/input/event-codes.rst of Linux).
package struct KeyContact {
    package enum Result: Hashable, Sendable {
        case unchanged, pressed, released
        /// The state is unknown. Read it (EVIOCGKEY), and call `set`.
        case mustBeRead
    }

    private let code: UInt16
    package private(set) var isPressed = false
    private var isDropping = false

    package init(code: UInt16) { self.code = code }

    package mutating func receive(_ event: InputEvent) -> Result {
        if event.type == InputEvent.synchronization {
            switch event.code {
            case InputEvent.dropped:
                isDropping = true
                // It is read now, and again after the report, so that a lost release cannot keep the microphone open
                // even if no report follows.
                return .mustBeRead
            case InputEvent.report where isDropping:
                isDropping = false
                return .mustBeRead
            default: return .unchanged
            }
        }
        // The value 2 is a repetition of a key that is held.
        guard !isDropping, event.type == InputEvent.key, event.code == code else { return .unchanged }
        return set(event.value != 0)
    }

    /// Sets the state that was read from the device.
    package mutating func set(_ isPressed: Bool) -> Result {
        guard isPressed != self.isPressed else { return .unchanged }
        self.isPressed = isPressed
        return isPressed ? .pressed : .released
    }
}
