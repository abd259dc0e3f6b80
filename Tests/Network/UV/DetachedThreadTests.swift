import Dispatch
import Foundation
import TenfourUV
import Testing

struct DetachedThreadTests {
    @Test func aDetachedThreadDoesItsThingElsewhere() throws {
        let (done, caller) = (DispatchSemaphore(value: 0), UInt(pthread_self()))
        nonisolated(unsafe) var worker = caller
        try DetachedThread.run {
            unsafe worker = UInt(pthread_self())
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(unsafe worker != caller)
    }
}
