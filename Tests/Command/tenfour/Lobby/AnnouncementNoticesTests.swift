import TenfourDNSSD
import Testing

@testable import tenfour

struct AnnouncementNoticesTests {
    @Test func onlyAnotherNameIsTold() {
        var notices = AnnouncementNotices(name: "Pi")
        #expect(notices.update(.waiting(.starting), search: .starting) == nil)
        #expect(notices.update(.announced("Pi"), search: .running) == nil)
        #expect(
            notices.update(.announced("Pi #2"), search: .running)
                == "others see this station as Pi #2, because Pi is taken")
        #expect(notices.update(.announced("Pi #2"), search: .running) == nil)
        #expect(notices.update(.waiting(.running), search: .running) == nil)
        #expect(notices.update(.announced("Pi"), search: .running) == "others see this station as Pi")
    }

    @Test func aFailureIsToldOnceUnlessTheSearchFailsToo() {
        var notices = AnnouncementNotices(name: "Pi")
        let failed = ServiceAnnouncement.State.waiting(.unavailable(.failed("not permitted")))
        #expect(notices.update(failed, search: .unavailable(.failed("not permitted"))) == nil)
        #expect(notices.update(.waiting(.unavailable(.noDaemon)), search: .running) == nil)
        for _ in 0..<2 {
            let told = notices.update(failed, search: .running)
            #expect(told == "others cannot see this station: avahi-daemon: not permitted")
            #expect(notices.update(.waiting(.running), search: .running) == nil)
            #expect(notices.update(failed, search: .running) == nil)
            #expect(notices.update(.announced("Pi"), search: .running) == nil)
        }
    }

    @Test func aHiddenStationTellsNothing() {
        var notices = AnnouncementNotices(name: "Pi")
        #expect(notices.update(nil, search: .running) == nil)
    }
}
