/// Which contacts of a source are closed, on all of its devices: the source is pressed while any is.
///
/// A contact that is already closed when its device is found does not count until it has opened once, so that no device
/// that is plugged in opens the microphone.
struct HeldContacts {
    private struct Contact {
        var isClosed: Bool
        var counts: Bool
    }

    private var contacts: [Int: Contact] = [:]
    private(set) var isPressed = false

    mutating func add(_ id: Int, isClosed: Bool) { contacts[id] = Contact(isClosed: isClosed, counts: !isClosed) }

    /// Records the state of a contact. Returns the change of the source; nil if it is as before.
    mutating func set(_ id: Int, isClosed: Bool) -> PTTEvent.Change? {
        guard var contact = contacts[id] else { return nil }
        contact.isClosed = isClosed
        if !isClosed { contact.counts = true }
        contacts[id] = contact
        return change()
    }

    /// Forgets a contact whose device is gone. Returns `released` if it was the last one that was held.
    mutating func remove(_ id: Int) -> PTTEvent.Change? {
        contacts[id] = nil
        return change()
    }

    private mutating func change() -> PTTEvent.Change? {
        let isPressedNow = contacts.values.contains { $0.isClosed && $0.counts }
        guard isPressedNow != isPressed else { return nil }
        isPressed = isPressedNow
        return isPressed ? .pressed : .released
    }
}
