import TenfourAudioCore
import TenfourCommandSupport
import Testing

@testable import tenfour

struct SeekTargetTests {
    @Test func timesAndParts() {
        #expect(SeekTarget("1:23") == .time(.seconds(83)) && SeekTarget("83s") == .time(.seconds(83)))
        #expect(SeekTarget(" 1:02:03 ") == .time(.seconds(3_723)) && SeekTarget("83") == .time(.seconds(83)))
        #expect(SeekTarget("50%") == .share(0.5) && SeekTarget("12.5 %") == .share(0.125))
    }

    @Test(arguments: ["", "%", "101%", "-1%", "nan%", "1:99", "soon", "-5", "1:2:3:4", "inf%"])
    func otherTextIsNone(text: String) { #expect(SeekTarget(text) == nil) }
}

/// A press of the mouse and what follows.
struct PointerDragTests {
    private var drag = PointerDrag()

    private func report(_ action: String, _ column: Int, _ line: Int = 5) -> MouseReport {
        let (button, end) = (action == "drag" ? 32 : 0, action == "release" ? "m" : "M")
        var input = TerminalInput()
        let events = "\u{1B}[<\(button);\(column + 1);\(line + 1)\(end)".utf8.compactMap {
            input.append($0, at: .start)
        }
        guard case .mouse(let report)? = events.first else { preconditionFailure("no report") }
        return report
    }

    private func moment(_ milliseconds: Int) -> Instant { .start + .seconds(10) + .milliseconds(milliseconds) }

    @Test mutating func aPressSeeksWhenItsPlaceIsKnown() {
        #expect(drag.handle(report("press", 7), at: moment(0)) == .ask && drag.column == nil)
        #expect(drag.locate(3..<8, at: moment(1)) == .seek(column: 7) && drag.column == 7)
        #expect(drag.handle(report("release", 7), at: moment(50)) == .none && drag.column == nil)
    }

    @Test mutating func whileTheMouseMovesSeeksAreRareAndTheLastOneCounts() {
        _ = drag.handle(report("press", 0), at: moment(0))
        _ = drag.locate(3..<8, at: moment(0))
        var seeks: [PointerDrag.Action] = []
        for step in 1...40 {
            seeks.append(drag.handle(report("drag", step), at: moment(step * 10)))
            #expect(drag.column == step)
        }
        #expect(seeks.filter { $0 != .none } == [.seek(column: 15), .seek(column: 30)])
        #expect(drag.handle(report("release", 41), at: moment(410)) == .seek(column: 41))
        #expect(drag.handle(report("drag", 50), at: moment(999)) == .none, "the button is not held")
    }

    @Test mutating func aPressElsewhereIsForgotten() {
        _ = drag.handle(report("press", 7, 2), at: moment(0))
        #expect(drag.locate(3..<8, at: moment(1)) == .none)
        #expect(drag.handle(report("drag", 9), at: moment(500)) == .none && drag.column == nil)
        #expect(drag.locate(3..<8, at: moment(501)) == .none, "an answer that nobody asked for")
    }

    @Test mutating func aReleaseBeforeTheAnswerIsAClick() {
        _ = drag.handle(report("press", 7), at: moment(0))
        #expect(drag.handle(report("release", 8), at: moment(5)) == .none)
        #expect(drag.locate(3..<8, at: moment(9)) == .seek(column: 8) && drag.column == nil)
    }
}
