import TenfourAudioCore
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer

/// The keyboard keys that control playback: the keys of mpv, and keys for the pitch, the bass, the treble and the queue.
/// `WaveformPanel` takes the keys g and w before.
enum PlayKeys {
    enum Action {
        case pause, reset, mute, next, previous, nextChapter, previousChapter, shuffle, repetition, list, quit, help
        case seek(Duration)
        case go(SeekTarget)
        case rate(Double)
        case pitch(Double)
        case volume(Double)
        case bass(Double)
        case treble(Double)

        func apply(to streamer: Streamer) {
            switch self {
            case .pause:
                // Another program may have stopped the player.
                let isResting = streamer.state == .paused || streamer.state == .ended(.stopped)
                if isResting { streamer.play() } else { streamer.pause() }
            case .seek(let distance): streamer.seek(by: distance)
            case .go(let target): target.apply(to: streamer)
            case .rate(let factor): streamer.rate = RateStep.step(streamer.rate, by: factor)
            case .pitch(let cents): streamer.pitch += cents
            case .reset: (streamer.rate, streamer.pitch) = (1, 0)
            case .volume(let share): streamer.volume += share
            case .bass(let decibels): streamer.bass += decibels
            case .treble(let decibels): streamer.treble += decibels
            case .mute: streamer.isMuted.toggle()
            case .next: streamer.next()
            case .previous: streamer.previous()
            case .nextChapter: streamer.nextChapter()
            case .previousChapter: streamer.previousChapter()
            case .shuffle: streamer.isShuffled.toggle()
            case .repetition:
                streamer.repeats =
                    switch streamer.repeats {
                    case .none: .all
                    case .all: .one
                    case .one: .none
                    }
            case .quit, .help, .list: break
            }
        }
    }

    static let help = """
        \(common)
        \(ofStatusLine), l lists the queue and the chapters,
        w hides the waveform, q fades out and quits.
        """

    /// Returns the help for a session that sends what is played: there w lists who is here, q does not fade out, and
    /// without a status line s shows the state.
    static func helpWhileSending(isPlain: Bool) -> String {
        """
        \(common)
        \(isPlain ? "s shows the state" : ofStatusLine), w lists who is here, q quits.
        """
    }

    private static let common = """
        Keys: space or p pauses, left and right seek by 5 s,
        up and down by a minute, 0 to 9 go to 0 to 90 % of the item,
        [ and ] lower and raise the speed, { and } halve and double it,
        ( and ) lower and raise the pitch, / and * the volume, b and B the bass,
        t and T the treble, backspace resets speed and pitch, m mutes,
        < and > go to the previous and the next item,
        page up and down to the next and the previous chapter, r repeats,
        """
    /// The keys that need a status line, or that have another meaning without it.
    private static let ofStatusLine = """
        g asks for a time to go to, a click in the waveform seeks,
        s shuffles
        """

    static func action(for key: TerminalKey) -> Action? {
        switch key {
        case .left: .seek(.seconds(-5))
        case .right: .seek(.seconds(5))
        case .up: .seek(.seconds(60))
        case .down: .seek(.seconds(-60))
        case .pageUp: .nextChapter
        case .pageDown: .previousChapter
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
        case "0"..."9": .go(.share(Double(character.wholeNumberValue ?? 0) / 10))
        case "/": .volume(-0.05)
        case "*": .volume(0.05)
        case "b": .bass(-1)
        case "B": .bass(1)
        case "t": .treble(-1)
        case "T": .treble(1)
        case "m": .mute
        case ">": .next
        case "<": .previous
        case "@": .nextChapter
        case "!": .previousChapter
        case "s": .shuffle
        case "r": .repetition
        case "l": .list
        case "q", "\u{4}": .quit
        case "?": .help
        default: nil
        }
    }
}
