import Glibc
import Synchronization
import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio
import TenfourRings

/// Runs a player in the terminal: handles signals and key presses, prints titles and a status line.
struct PlayRunner {
    var quiet: Bool
    var verbose: Bool
    /// Whether a level meter is shown above the status line.
    var levels = false
    /// The path of the output file; nil if the audio is played.
    var rendersTo: String?
    var fadeOut: Duration
    var duration: Duration?

    private static let interval: Int32 = 100

    func run(_ streamer: Streamer, _ addresses: [String], at start: Duration?) throws(RadioError) {
        Signals.catchEnd()
        let events = StreamerEventQueue(streamer.events)
        streamer.open(addresses, at: start)
        streamer.play()
        let keyboard = rendersTo == nil ? Keyboard() : nil
        if verbose, let output = streamer.openedOutput { log("playing on \(output)") }
        if keyboard != nil { log("q quits, ? helps") }
        var line = PlayStatusLine(levels: levels)
        var (hasPlayed, isCardLost) = (false, false)
        var isStalled = false
        while !Signals.hasEnd, !streamer.state.isOver, duration.map({ streamer.progress.played < $0 }) ?? true {
            let key = keyboard?.key(within: Self.interval) { line.clear() }
            if keyboard == nil { usleep(UInt32(Self.interval) * 1_000) }
            if let key, handle(key, streamer, &line) { break }
            show(events.take(), streamer, &line, &hasPlayed)
            if streamer.isCardLost != isCardLost {
                isCardLost.toggle()
                line.clear()
                log(
                    isCardLost ? "the sound card is gone: playback continues when it is back" : "the sound card is back"
                )
            }
            if (streamer.progress.reconnections != nil) != isStalled {
                isStalled.toggle()
                line.clear()
                if isStalled { log("no data arrives: sending the request again") }
            }
            if !quiet, Terminal.showsStatus { line.draw(streamer) }
        }
        fade(streamer)
        let state = streamer.state
        let (item, length) = (streamer.progress.item, streamer.progress.duration)
        streamer.close()
        events.waitForTheEnd()
        show(events.take(), streamer, &line, &hasPlayed)
        line.clear()
        if case .failed(let error) = state {
            throw RadioError(hasPlayed ? .failure : .unavailable, sentence(error, of: item, streamer))
        }
        if state == .ended(.finished), !hasPlayed {
            throw RadioError(.unavailable, "\(name(item, streamer)): \(silence(from: start, length))")
        }
        if let rendersTo, rendersTo != "-" { log("wrote \(rendersTo)") }
    }

    private func name(_ item: Int, _ streamer: Streamer) -> String {
        let queue = streamer.queue
        return queue.indices.contains(item) ? queue[item].name : ""
    }

    /// Returns the error's description, preceded by the item's name if the description lacks the name.
    private func sentence(_ error: StreamError, of item: Int, _ streamer: Streamer) -> String {
        let name = name(item, streamer)
        guard case .read = error, !name.isEmpty, !error.description.contains(name) else { return error.description }
        return "\(name): \(error)"
    }

    /// Returns the reason why an item that could be opened produced no audio.
    private func silence(from start: Duration?, _ length: Estimate<Duration>?) -> String {
        guard let start, let length, start >= length.value else { return "it contains no audio" }
        let (begin, end) = (PlayStatusLine.clock(start), PlayStatusLine.clock(length))
        return "it contains no audio after \(begin), since it ends at \(end); start earlier"
    }

    /// If the player is playing to a card, fades out, waits until the fade is heard, and stops.
    private func fade(_ streamer: Streamer) {
        guard streamer.state == .playing, rendersTo == nil else { return }
        streamer.fadeOut(over: fadeOut)
        // Waits 0.1 s longer than the fade, for the audio queued in the card. A second signal ends the wait.
        usleep(UInt32(min(fadeOut / .microseconds(1), 60e6)) + 100_000)
        streamer.stop()
    }

    private func show(
        _ events: [StreamEvent], _ streamer: Streamer, _ line: inout PlayStatusLine, _ hasPlayed: inout Bool
    ) {
        for event in events {
            switch event {
            case .item(let number, let track):
                hasPlayed = true
                let queue = streamer.queue
                guard queue.indices.contains(number) else { continue }
                let count = queue.count > 1 ? "\(number + 1)/\(queue.count) " : ""
                line.clear()
                log("\(count)\(queue[number].name)\(verbose ? " (\(track.summary))" : "")")
            case .title(let title):
                line.clear()
                log("  \(streamer.track?.artist.map { "\($0) – " } ?? "")\(title)")
            case .skipped(let number, let error):
                line.clear()
                // Prints this line even with --quiet, because it is an error.
                Terminal.log("tenfour: skipped \(name(number, streamer)): \(error)")
            case .seekRefused(let error):
                line.clear()
                Terminal.log("tenfour: cannot seek: \(error)")
            case .state, .progress: break
            }
        }
    }

    /// Performs the action of the pressed `key`. Returns true for the key that quits.
    private func handle(_ key: TerminalKey, _ streamer: Streamer, _ line: inout PlayStatusLine) -> Bool {
        switch PlayKeys.action(for: key) {
        case .quit: return true
        case .help:
            line.clear()
            log(PlayKeys.help)
        case .none: break
        case .some(let action): action.apply(to: streamer)
        }
        return false
    }

    private func log(_ text: String) { if !quiet { Terminal.log("tenfour: \(text)") } }
}

/// The keyboard keys that control playback: the keys of mpv, and keys for the pitch.
enum PlayKeys {
    enum Action {
        case pause, reset, mute, next, previous, quit, help
        case seek(Duration)
        case rate(Double)
        case pitch(Double)
        case volume(Double)

        func apply(to streamer: Streamer) {
            switch self {
            case .pause: if streamer.state == .paused { streamer.play() } else { streamer.pause() }
            case .seek(let distance): streamer.seek(by: distance)
            case .rate(let factor): streamer.rate = RateStep.step(streamer.rate, by: factor)
            case .pitch(let cents): streamer.pitch += cents
            case .reset: (streamer.rate, streamer.pitch) = (1, 0)
            case .volume(let share): streamer.volume += share
            case .mute: streamer.isMuted.toggle()
            case .next: streamer.next()
            case .previous: streamer.previous()
            case .quit, .help: break
            }
        }
    }

    static let help = """
        Keys: space or p pauses, left and right seek by 5 s, up and down by a minute,
        [ and ] lower and raise the speed, { and } halve and double it, ( and ) lower
        and raise the pitch, backspace resets both, 9 and 0 lower and raise the volume,
        m mutes, < and > play the previous and the next item, q fades out and quits.
        """

    static func action(for key: TerminalKey) -> Action? {
        switch key {
        case .left: .seek(.seconds(-5))
        case .right: .seek(.seconds(5))
        case .up: .seek(.seconds(60))
        case .down: .seek(.seconds(-60))
        case .character(let character): action(for: character)
        }
    }

    private static func action(for character: Character) -> Action? {
        switch character {
        case " ", "p": .pause
        case "[": .rate(1 / 1.1)
        case "]": .rate(1.1)
        case "{": .rate(0.5)
        case "}": .rate(2)
        case "(": .pitch(-100)
        case ")": .pitch(100)
        case "\u{7F}", "\u{8}": .reset
        case "9", "/": .volume(-0.05)
        case "0", "*": .volume(0.05)
        case "m": .mute
        case ">": .next
        case "<": .previous
        case "q", "\u{4}": .quit
        case "?": .help
        default: nil
        }
    }
}

extension Track {
    /// The format as text such as `mp3, 44100 Hz, stereo`.
    fileprivate var summary: String {
        let channels =
            format.channelCount == 1 ? "mono" : format.channelCount == 2 ? "stereo" : "\(format.channelCount) channels"
        return "\(codec), \(format.rate.hertz) Hz, \(channels)"
    }
}

/// Queues a player's events for polling.
final class StreamerEventQueue: Sendable {
    private let events = Locked<[StreamEvent]>([])
    private let isOver = Atomic<Bool>(false)

    /// Queues events from now on.
    init(_ stream: AsyncStream<StreamEvent>) {
        Task { [weak self] in
            for await event in stream {
                guard let self else { return }
                if case .progress = event { continue }
                events.withLock { $0.append(event) }
            }
            self?.isOver.store(true, ordering: .releasing)
        }
    }

    /// Blocks until all events of a closed player have arrived, at most 1 s.
    func waitForTheEnd() {
        for _ in 0..<100 where !isOver.load(ordering: .acquiring) { usleep(10_000) }
    }

    func take() -> [StreamEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }
}
