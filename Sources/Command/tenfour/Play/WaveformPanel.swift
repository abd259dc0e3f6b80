import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourWaveform

/// The waveform of a player above the status line, what the mouse does in it, and the line in which a person types where
/// to go. Use it on one thread.
final class WaveformPanel {
    private let streamer: Streamer
    /// Whether the key w shows and hides the waveform.
    private let hasToggle: Bool
    private var isOn = true
    private var drag = PointerDrag()
    private var prompt: LineInput?
    /// The picture that was drawn last.
    private var drawn: Drawn?

    private struct Drawn {
        var key: Key
        var lines: [String]
    }

    /// The values on which a picture depends.
    private struct Key: Equatable {
        var strip: WaveformStrip
        var width: Int
        var height: Int
    }

    /// The number of bars that are read of each item: several for each column of the widest terminals.
    static let barCount = 2_000
    /// The smallest terminal with a waveform, in columns and lines.
    private static let smallest = (columns: 30, lines: 8)

    init(_ streamer: Streamer, hasToggle: Bool) {
        self.streamer = streamer
        self.hasToggle = hasToggle
    }

    /// Lets `configuration` make waveforms, if the terminal can show them.
    static func configure(_ configuration: inout StreamerConfiguration) {
        guard Terminal.takesPictures else { return }
        configuration.waveformBarCount = barCount
        configuration.waveformStore = WaveformCache.usualFolder.map { WaveformCache(folder: $0) }
    }

    /// Whether the picture is on the screen.
    var isShown: Bool { drawn != nil }

    // MARK: Drawing

    /// The line that a person types; nil if none is being typed.
    var typed: String? { prompt.map { "go to: \($0.text)▏" } }

    /// Returns the lines of the picture; none if it is hidden, if the terminal has no room, or if the item has no length.
    func lines(width: Int) -> [String] {
        let (columns, height) = (width + 1, Terminal.height)
        let isWanted = isOn && streamer.hasWaveform
        let hasRoom = isWanted && columns >= Self.smallest.columns && height >= Self.smallest.lines
        if streamer.makesWaveform != hasRoom { streamer.makesWaveform = hasRoom }
        let progress = streamer.progress
        guard hasRoom, Terminal.takesPictures, !progress.isLive, let duration = progress.duration?.value,
            duration > .zero
        else {
            hide()
            return []
        }
        let waveform = streamer.waveform
        var strip = WaveformStrip(
            waveform?.partialBars, rate: waveform?.rate ?? .opus, duration: duration,
            position: Self.rounded(progress.position.value, duration, width))
        if let column = drag.column {
            strip.position = WaveformStrip.time(atColumn: column, ofWidth: width, duration: duration)
        }
        strip.markedRanges = waveform?.markedRanges ?? []
        // Whole columns, so that a picture that looks the same is the same.
        strip.arrived = ((progress.downloaded?.upperBound ?? 1) * Double(width)).rounded(.up) / Double(width)
        let key = Key(strip: strip, width: width, height: Self.height(in: height))
        if let drawn, drawn.key == key { return drawn.lines }
        let lines = strip.lines(width: width, height: key.height)
        drawn = Drawn(key: key, lines: lines)
        return lines
    }

    /// Forgets the picture when it is erased for good.
    func hide() {
        drawn = nil
        drag.cancel()
    }

    /// Returns the position of the column in which `position` lies, so that most pictures are the same.
    private static func rounded(_ position: Duration, _ duration: Duration, _ width: Int) -> Duration {
        let column = Int(position / duration * Double(width))
        return WaveformStrip.time(atColumn: column, ofWidth: width, duration: duration)
    }

    /// Returns the height of the levels in lines, an even number.
    private static func height(in lines: Int) -> Int { lines < 12 ? 2 : lines < 20 ? 4 : lines < 40 ? 6 : 8 }

    // MARK: Input

    enum Outcome {
        /// The input was for the panel.
        case done
        /// The input was for the panel, and this is to be told.
        case told(String)
        /// The input is for others.
        case passed
    }

    /// Takes what it needs of the input.
    func handle(_ input: Keyboard.Input, _ keyboard: Keyboard) -> Outcome {
        switch input {
        case .mouse(let report): perform(drag.handle(report, at: MonotonicClock.now), keyboard)
        case .cursor(let line):
            perform(drag.locate(line..<line + (drawn?.lines.count ?? 0), at: MonotonicClock.now), keyboard)
        case .key(let key, .press), .key(let key, .repeat): return handle(key)
        case .key(_, .release), .focusLost, .focusGained, .closed: return .passed
        }
        return .done
    }

    private func handle(_ key: TerminalKey) -> Outcome {
        switch prompt?.append(key) {
        case .some(.none): return .done
        case .cancelled:
            prompt = nil
            return .done
        case .done(let text):
            prompt = nil
            guard !text.allSatisfy(\.isWhitespace) else { return .done }
            guard let target = SeekTarget(text) else { return .told(SeekTarget.refusal) }
            target.apply(to: streamer)
            return .done
        case nil: break
        }
        switch key {
        case .character("g") where Terminal.showsStatus: prompt = LineInput()
        case .character("w") where hasToggle && streamer.hasWaveform:
            isOn.toggle()
            if !isOn { hide() }
        default: return .passed
        }
        return .done
    }

    private func perform(_ action: PointerDrag.Action, _ keyboard: Keyboard) {
        switch action {
        case .none: break
        case .ask: keyboard.askForCursor()
        case .seek(let column):
            guard let width = drawn?.key.width, let duration = streamer.progress.duration?.value else { return }
            streamer.seek(to: WaveformStrip.time(atColumn: column, ofWidth: width, duration: duration))
        }
    }
}
