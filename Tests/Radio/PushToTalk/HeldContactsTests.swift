import Testing

@testable import TenfourPushToTalk

struct HeldContactsTests {
    @Test func itIsPressedWhileAnyContactIsClosed() {
        var contacts = HeldContacts()
        contacts.add(1, isClosed: false)
        contacts.add(2, isClosed: false)
        #expect(contacts.set(1, isClosed: true) == .pressed)
        #expect(contacts.set(2, isClosed: true) == nil)
        #expect(contacts.set(1, isClosed: false) == nil)
        #expect(contacts.isPressed)
        #expect(contacts.set(2, isClosed: false) == .released)
    }

    @Test func aDeviceThatGoesLetsGo() {
        var contacts = HeldContacts()
        contacts.add(1, isClosed: false)
        contacts.add(2, isClosed: false)
        #expect(contacts.set(1, isClosed: true) == .pressed)
        #expect(contacts.remove(2) == nil)
        #expect(contacts.remove(1) == .released)
        #expect(contacts.set(1, isClosed: true) == nil)
        #expect(!contacts.isPressed)
    }

    @Test func aContactThatWasClosedAtFirstCountsAfterItHasOpened() {
        var contacts = HeldContacts()
        contacts.add(1, isClosed: true)
        #expect(contacts.set(1, isClosed: true) == nil)
        #expect(contacts.set(1, isClosed: false) == nil)
        #expect(contacts.set(1, isClosed: true) == .pressed)
    }
}
