import TenfourSeededRandom
import TestSupport
import Testing

/// How long programs need to say that something has changed. With TENFOUR_LONG a test runs 100 rounds, and each line has a limit;
/// otherwise one, and a line may take a minute, because a machine may stand still.
///
/// Unchecked, because only the thread of the namespace in which the programs run uses it.
final class Reactions: @unchecked Sendable {
    static let isLong = Program.isSet("TENFOUR_LONG")
    static let rounds = isLong ? 100 : 1

    /// A line that a program has to say within a time.
    struct Line {
        let text: String
        let program: Program
        let limit: Duration

        init(_ text: String, of program: Program, within limit: Duration) {
            (self.text, self.program, self.limit) = (text, program, limit)
        }
    }

    private struct Tally {
        var text: String
        var limit: Duration
        var times: [Duration] = []
    }

    private let title: String
    private var tallies: [Tally] = []
    private var changed = ContinuousClock.now
    /// The number of bytes that each program had said at the change, by its process.
    private var marks: [Int32: Int] = [:]
    private var randomness = SeededRandom(seed: 1)

    init(_ title: String) { self.title = title }

    /// Prints how many of the lines came in time, and the longest time.
    deinit {
        guard Self.isLong else { return }
        for tally in tallies {
            let inTime = tally.times.count { $0 <= tally.limit }
            print("\(title): “\(tally.text)” \(inTime) of \(tally.times.count) within \(tally.limit)", terminator: "")
            print(", at most \(tally.times.max() ?? .zero)")
        }
    }

    /// Programs have been started: the time counts from now, and each line that they say.
    func start() { (marks, changed) = ([:], .now) }

    /// Changes something, after the programs have had two seconds to become used to what is; in long rounds up to five.
    func change(_ programs: [Program], _ change: () throws -> Void) rethrows {
        let pause = Self.isLong ? Int.random(in: 2_000...5_000, using: &randomness) : 2_000
        programs.first?.wait(.milliseconds(pause)) { false }
        marks = [:]
        for program in programs { marks[program.processID] = program.errors.utf8.count }
        try change()
        changed = .now
    }

    /// Waits until each of the lines has been said after the change.
    func expect(_ lines: Line..., location: SourceLocation = #_sourceLocation) { expect(lines, location) }

    /// The same for a list of lines.
    func expect(_ lines: [Line], _ location: SourceLocation = #_sourceLocation) {
        var times: [Duration?] = lines.map { _ in nil }
        lines.first?.program.wait(.seconds(60)) {
            for (index, line) in lines.enumerated() where times[index] == nil && isSaid(line) {
                times[index] = changed.duration(to: .now)
            }
            return !times.contains(nil)
        }
        for (line, time) in zip(lines, times) {
            let words = "\(title): “\(line.text)”"
            #expect(time != nil, "\(words) of \(line.program.errors)", sourceLocation: location)
            guard Self.isLong, let time else { continue }
            #expect(time <= line.limit, "\(words) after \(time) of \(line.program.errors)", sourceLocation: location)
            let index = tallies.firstIndex { $0.text == line.text && $0.limit == line.limit }
            if index == nil { tallies.append(Tally(text: line.text, limit: line.limit)) }
            tallies[index ?? tallies.endIndex - 1].times.append(time)
        }
    }

    private func isSaid(_ line: Line) -> Bool {
        let new = line.program.errors.utf8.dropFirst(marks[line.program.processID] ?? 0)
        return String(decoding: new, as: UTF8.self).contains(line.text)
    }
}
