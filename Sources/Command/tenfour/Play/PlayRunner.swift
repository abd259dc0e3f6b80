import Glibc
import Synchronization
import TenfourAudioCore
import TenfourAudioFile
import TenfourClocks
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio
import TenfourSystem
import TenfourWaveform

/// Runs a player in the terminal: handles signals and key presses, prints titles and a status line.
struct PlayRunner {
    var quiet: Bool
    var verbose: Bool
    /// Whether a level meter is shown above the status line.
    var levels = false
    /// The path of the output file; nil if the audio is played.
    var rendersTo: String?
    /// Whether the output file has the format of the first item.
    var keepsFormat = false
    var fadeOut: Duration
    /// The time after which playback stops; nil if it does not.
    var sleep: Duration?
    /// The duration of the audio to be played; nil for all of it.
    var duration: Duration?
    /// Remembers where long items are left; nil if that is not asked for.
    var resume: ResumeFile?
    /// The connection to the desktop; nil if the audio is written to a file.
    var desktop: PlayDesktop?

    /// The longest time between two updates of the status line, in milliseconds.
    private static let interval: Int32 = 100

    func run(_ streamer: Streamer, _ addresses: [String], at start: Duration?) throws(RadioError) {
        Signals.catchEnd()
        let events = StreamerEventQueue(streamer.events)
        streamer.open(addresses, at: start)
        let typed = QueuePlace.absolute(addresses)
        // A position that was asked for is one in the first item.
        var resumed = start == nil ? resume?.queue(of: typed) : nil
        if resumed == nil { streamer.play() }
        let keyboard = rendersTo == nil ? Keyboard() : nil
        reportOutput(of: streamer)
        var timer = sleep.map { SleepTimer($0, from: MonotonicClock.now) }
        if keyboard != nil { log("q quits, ? shows the keys") }
        let panel = quiet ? nil : WaveformPanel(streamer, hasToggle: true)
        var line = PlayStatusLine(levels: levels, panel: panel)
        var hasPlayed = false
        var skippedCount = 0
        var changes = OutageNotices(ofFirst: addresses.first)
        var desktop = desktop
        while !isOver(streamer) {
            desktop?.update(streamer.state, at: MonotonicClock.now)
            let interval = PlayStatusLine.timeUntilChange(streamer, atMost: Self.interval)
            keyboard?.reportsMouse = panel?.isShown == true
            let input = keyboard?.input(within: interval) { line.clear() }
            if keyboard == nil { usleep(UInt32(interval) * 1_000) }
            if let keyboard, let input, let key = key(input, keyboard, panel, &line), handle(key, streamer, &line) {
                break
            }
            if let queue = resumed, queue.select(in: streamer) {
                resumed = nil
                streamer.play()
            }
            show(events.take(), streamer, &line, &hasPlayed, &skippedCount)
            if resumed == nil { remember(streamer, typed) }
            if let length = timer?.fadeOut(at: MonotonicClock.now) { streamer.fadeOut(over: length) }
            if timer?.isOver(at: MonotonicClock.now) == true { break }
            for notice in changes.notices(streamer, hasPlayed: hasPlayed) {
                line.clear()
                log(notice)
            }
            if !quiet, Terminal.showsStatus {
                line.draw(streamer, sleepsIn: timer.map { $0.left(at: MonotonicClock.now) })
            }
        }
        // A second Ctrl-C ends the process while the fade is heard: the terminal is as before by then.
        line.clear()
        keyboard?.close()
        if resumed == nil { remember(streamer, typed) }
        resume?.finish()
        fade(streamer)
        desktop?.end()
        let state = streamer.state
        let (item, length) = (streamer.progress.item, streamer.progress.duration)
        streamer.close()
        events.waitForTheEnd()
        show(events.take(), streamer, &line, &hasPlayed, &skippedCount)
        line.clear()
        try report(state, of: item, length, from: start, hasPlayed: hasPlayed, streamer)
        if state == .ended(.finished) { try reportSkipped(skippedCount) }
    }

    private func reportSkipped(_ count: Int) throws(RadioError) {
        guard count > 0 else { return }
        throw RadioError(
            .incomplete,
            "some items were skipped (\(count)): see the reasons above, and correct or leave out these items")
    }

    private func reportOutput(of streamer: Streamer) {
        if verbose, let output = streamer.openedOutput {
            log("\(rendersTo == nil ? "playing on" : "writing") \(output)")
        }
        if let shortening = streamer.shortening { reportShortening(shortening) }
    }

    private func reportShortening(_ shortening: SampleShortening) {
        let width =
            switch shortening.recorded {
            case .integer(let bitCount): "\(bitCount) bits"
            case .floatingPoint: "floating point"
            }
        let remedy =
            keepsFormat ? "write a .wav file to keep them" : "keep them with --keep-format, or choose a --format"
        log("the samples of \(width) are shortened to \(shortening.coding.rawValue): \(remedy)")
    }

    /// Reports how playback ended: the end of the item at `item`, which has this length.
    private func report(
        _ state: StreamState, of item: Int, _ length: Estimate<Duration>?, from start: Duration?, hasPlayed: Bool,
        _ streamer: Streamer
    ) throws(RadioError) {
        if case .failed(let error) = state {
            throw RadioError(hasPlayed ? .failure : .unavailable, sentence(error, of: item, streamer))
        }
        if state == .ended(.finished), !hasPlayed {
            throw RadioError(.unavailable, "\(name(item, streamer)): \(silence(from: start, length))")
        }
        if streamer.skippedSilence > .seconds(1) {
            log("left out \(PlayStatusLine.clock(streamer.skippedSilence)) of silence")
        }
        if let rendersTo, rendersTo != "-" { log("wrote \(rendersTo)") }
    }

    /// Records what is heard, for `--resume`.
    private func remember(_ streamer: Streamer, _ typed: [String]) {
        guard let resume else { return }
        resume.update(streamer.heardPlace)
        if streamer.track != nil, let place = QueuePlace(streamer, typed) { resume.update(place) }
    }

    private func isOver(_ streamer: Streamer) -> Bool {
        if Signals.hasEnd || desktop?.hasQuit == true { return true }
        let state = streamer.state
        if desktop?.isOver(state) ?? state.isOver { return true }
        // Ends where the fade-out begins.
        let end = duration.map { rendersTo == nil ? Self.fadeStart(of: $0, fadeOut: fadeOut) : $0 }
        return end.map { streamer.progress.played >= $0 } ?? false
    }

    /// The time at which the fade-out of `duration` of audio begins. At least half of the audio comes before it.
    static func fadeStart(of duration: Duration, fadeOut: Duration) -> Duration {
        duration - min(fadeOut, duration / 2)
    }

    private func name(_ item: Int, _ streamer: Streamer) -> String {
        let queue = streamer.queue
        guard queue.indices.contains(item) else { return "" }
        return queue[item].name == "-" ? "standard input" : queue[item].name
    }

    /// Returns the error's description, preceded by the item's name if the description lacks the name.
    private func sentence(_ error: StreamError, of item: Int, _ streamer: Streamer) -> String {
        let name = name(item, streamer)
        guard case .read = error, !name.isEmpty else { return error.description }
        return error.sentence(about: name)
    }

    /// Returns the reason why an item that could be opened produced no audio.
    private func silence(from start: Duration?, _ length: Estimate<Duration>?) -> String {
        guard let start, let length, start >= length.value else { return "it contains no audio; name another file" }
        let (begin, end) = (exactTimecode(start), (length.isExact ? "" : "≈") + exactTimecode(length.value))
        return "it contains no audio after \(begin), since it ends at \(end); start earlier"
    }

    /// If the player is playing to a card, fades out, waits until the fade is heard, and stops.
    private func fade(_ streamer: Streamer) {
        guard streamer.state == .playing, rendersTo == nil else { return }
        let left = duration.map { max($0 - streamer.progress.played, .zero) } ?? fadeOut
        let length = min(fadeOut, left)
        streamer.fadeOut(over: length)
        // Waits 0.1 s longer than the fade, for the audio queued in the card. A second signal ends the wait.
        usleep(UInt32(min(length / .microseconds(1), 60e6)) + 100_000)
        streamer.stop()
    }

    private func show(
        _ events: [StreamEvent], _ streamer: Streamer, _ line: inout PlayStatusLine, _ hasPlayed: inout Bool,
        _ skippedCount: inout Int
    ) {
        for event in events {
            switch event {
            case .item(let number, let track):
                hasPlayed = true
                let queue = streamer.queue
                guard queue.indices.contains(number) else { continue }
                let count = queue.count > 1 ? "\(number + 1)/\(queue.count) " : ""
                line.clear()
                let summary = verbose ? " (\(track.summary(playedAt: streamer.outputFormat.rate)))" : ""
                log("\(count)\(queue[number].name)\(summary)")
                if verbose { for text in ChapterListing.details(of: track) { log("  \(text)") } }
            case .title(let title):
                line.clear()
                log("  \(streamer.track?.artist.map { "\($0) – " } ?? "")\(title)")
            case .skipped(let number, let error):
                skippedCount += 1
                line.clear()
                // Prints this line even with --quiet, because it is an error.
                Terminal.log("tenfour: skipped \(name(number, streamer)): \(error)")
            case .notice(let sentence):
                line.clear()
                Terminal.log("tenfour: \(sentence)")
            case .seekRefused(let error):
                line.clear()
                Terminal.log("tenfour: cannot seek: \(error)")
            case .state, .progress, .queue: break
            }
        }
    }

    /// Returns the key that was pressed; nil if there is none, or if the panel has taken the input.
    private func key(
        _ input: Keyboard.Input, _ keyboard: Keyboard, _ panel: WaveformPanel?, _ line: inout PlayStatusLine
    ) -> TerminalKey? {
        switch panel?.handle(input, keyboard) {
        case .done: return nil
        case .told(let sentence):
            line.clear()
            log(sentence)
            return nil
        case .passed, nil: break
        }
        switch input {
        case .key(let key, .press), .key(let key, .repeat): return key
        case .key(_, .release), .focusLost, .focusGained, .mouse, .cursor, .closed: return nil
        }
    }

    /// Performs the action of the pressed `key`. Returns true for the key that quits.
    private func handle(_ key: TerminalKey, _ streamer: Streamer, _ line: inout PlayStatusLine) -> Bool {
        switch PlayKeys.action(for: key) {
        case .quit: return true
        case .help:
            line.clear()
            log(PlayKeys.help)
        case .list:
            line.clear()
            for text in QueueListing.lines(streamer.queue, current: streamer.progress.item) { log(text) }
            let chapters = streamer.track?.chapters ?? []
            for text in ChapterListing.lines(chapters, current: streamer.chapter) { log(text) }
        case .none: break
        case .some(let action): action.apply(to: streamer)
        }
        return false
    }

    private func log(_ text: String) { if !quiet { Terminal.log("tenfour: \(text)") } }
}

/// Notices of a card that is lost, of data that stops arriving, and of a pipe into which nobody writes.
private struct OutageNotices: ~Copyable {
    private var isCardLost = false
    private var isStalled = false
    /// The pipe that is the first item, until something is played.
    private var pipe: NamedPipe?

    init(ofFirst address: String?) {
        pipe = if let address { NamedPipe(address, at: MonotonicClock.now) } else { nil }
    }

    /// Returns the notices of what has changed since the last call.
    mutating func notices(_ streamer: Streamer, hasPlayed: Bool) -> [String] {
        var notices: [String] = []
        if hasPlayed { pipe = nil }
        if Terminal.showsStatus, let report = pipe?.report(at: MonotonicClock.now) { notices.append(report) }
        if streamer.isCardLost != isCardLost {
            isCardLost.toggle()
            notices.append(
                isCardLost ? "the sound card is gone: playback continues when it is back" : "the sound card is back")
        }
        if (streamer.progress.reconnections != nil) != isStalled {
            isStalled.toggle()
            if isStalled { notices.append("no data arrives: sending the request again") }
        }
        return notices
    }
}
