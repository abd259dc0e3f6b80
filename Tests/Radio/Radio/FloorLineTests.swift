import TenfourAudioCore
import TenfourFloor
import TenfourPackets
import Testing

@testable import TenfourRadio

/// The floor of two sessions that are in a call, with messages that arrive at once.
struct FloorLineTests {
    private final class Call {
        var now = Instant.start
        private var lines: [FloorLine]
        private let controls = (0..<2).map { _ in Controls(isMicrophoneOpen: false, isConnected: true) }

        init() {
            let now = now
            lines = [FloorLine]()
            for index in 0..<2 {
                controls[index].floor.setObserver { _ in }
                lines.append(
                    FloorLine(
                        .always(waits: false), controls[index], nil, as: index == 0 ? .called : .answered,
                        ssrc: SSRC(UInt32(index + 1)), frame: .milliseconds(20), at: now))
            }
            exchange()
        }

        func press(_ index: Int) { send(.press(.normal, now), index) }
        func release(_ index: Int) { send(.release, index) }

        private func send(_ command: FloorControls.Command, _ index: Int) {
            controls[index].floor.append(command)
            lines[index].takeCommands(at: now)
            exchange()
        }

        func wait(_ time: Duration) {
            let end = now + time
            while let due = lines.compactMap(\.nextDeadline).min(), due <= end {
                now = max(now, due)
                for index in lines.indices { lines[index].timeElapsed(at: now) }
                exchange()
            }
            now = end
        }

        private func exchange() {
            var hasNews = true
            while hasNews {
                hasNews = false
                for index in lines.indices {
                    while let message = lines[index].nextMessage() {
                        hasNews = true
                        lines[1 - index].receive(message.span, from: SSRC(UInt32(index + 1)), at: now)
                    }
                    if lines[index].flush(at: now) { hasNews = true }
                }
            }
        }

        func held(_ index: Int) -> (state: FloorParticipant.State, talker: SSRC?, time: Duration?)? {
            lines[index].snapshot(at: now).map { ($0.state, $0.talker, $0.heldFor) }
        }
    }

    @Test func bothStationsKnowForHowLongTheFloorIsHeld() {
        let call = Call()
        call.wait(.seconds(3))
        #expect(call.held(0)?.time == nil && call.held(1)?.time == nil)
        call.press(0)
        #expect(call.held(0)?.state == .permission && call.held(1)?.talker == SSRC(1))
        call.wait(.milliseconds(300))
        #expect(call.held(0)?.time == .milliseconds(300) && call.held(1)?.time == .milliseconds(300))
        call.release(0)
        call.wait(.milliseconds(200))
        #expect(call.held(0)?.time == nil && call.held(1)?.time == nil)
        call.press(1)
        call.wait(.milliseconds(100))
        #expect(call.held(0)?.talker == SSRC(2) && call.held(0)?.time == .milliseconds(100))
    }
}
