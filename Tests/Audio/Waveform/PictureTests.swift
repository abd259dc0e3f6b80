import Glibc
import TenfourAudioCore
import TenfourWaveform
import TestSupport
import Testing

/// Returns the bars of 10 s: −6 dB, and −26 dB in the second half.
private func bars(_ count: Int, seconds: Int = 10) -> Bars {
    var reduction = BarReduction(barCount: count, expecting: FrameCount(seconds * 1_000))
    let samples = (0..<seconds * 1_000).map { $0 < seconds * 500 ? Float(0.5) : 0.05 }
    reduction.append(samples.span)
    return reduction.bars()
}

private let rate = SampleRate(hertz: 1_000)

private func row(_ style: PictureStyle) -> WaveformPicture.Row {
    WaveformPicture.Row(bars: bars(style.barCount), rate: rate)
}

/// The pixels of a PNG, decoded by ffmpeg.
private struct Pixels {
    let width: Int
    let bytes: [UInt8]

    init(_ png: [UInt8], width: Int) throws {
        let folder = Folder()
        folder.write(png, to: "a.png")
        let arguments = ["-v", "error", "-i", "a.png", "-f", "rawvideo", "-pix_fmt", "rgb24", "a.rgb"]
        let result = try Program.run("ffmpeg", arguments, in: folder)
        try #require(result.end == .code(0), "\(result.errors)")
        bytes = Folder.bytes(of: folder("a.rgb"))
        self.width = width
    }

    var height: Int { bytes.count / 3 / width }

    func colour(_ x: Int, _ y: Int) -> [Int] { (0..<3).map { Int(bytes[(y * width + x) * 3 + $0]) } }

    /// Counts the matching pixels of a column, below the title and the legend.
    func count(x: Int, _ isAsked: ([Int]) -> Bool) -> Int { (60..<height).count { isAsked(colour(x, $0)) } }
}

private func isBlue(_ colour: [Int]) -> Bool { colour[2] > colour[0] + 60 }
private func isRed(_ colour: [Int]) -> Bool { colour[0] > colour[1] + 100 && colour[0] > colour[2] + 100 }

@Suite(.onItsOwnThread) struct PictureTests {
    @Test func aLouderHalfStandsHigherOnBothSidesOfTheMiddle() throws {
        var style = PictureStyle()
        (style.barWidth, style.spacing, style.width, style.height) = (1, 0, 600, 400)
        let picture = WaveformPicture(title: "", rows: [row(style)], style: style)
        let pixels = try Pixels(picture.file(.png), width: 600)
        #expect(pixels.height == 400)
        let (loud, quiet) = (pixels.count(x: 200, isBlue), pixels.count(x: 450, isBlue))
        // The levels are −6 dB and −26 dB above a floor of −70 dB.
        #expect(abs(Double(quiet) / Double(loud) - 44.0 / 64) < 0.03, "\(loud) \(quiet)")
        let rows = (0..<400).filter { isBlue(pixels.colour(200, $0)) }
        let middle = Double(rows[0] + rows[rows.count - 1]) / 2
        #expect(abs(middle - Double(rows.reduce(0, +)) / Double(rows.count)) < 1 && rows.count == loud)
    }

    @Test func concealedBarsAreRedAndFutureOnesPaler() throws {
        var style = PictureStyle()
        (style.barWidth, style.spacing, style.width) = (1, 0, 600)
        var row = row(style)
        row.markedRanges = [MarkedRange(.seconds(1) ..< .seconds(2))]
        row.position = .seconds(3)
        let pixels = try Pixels(WaveformPicture(title: "", rows: [row], style: style).file(.png), width: 600)
        let x = { (seconds: Double) in Int(58 + seconds * 518 / 10) }
        #expect(pixels.count(x: x(1.5), isRed) > 100 && pixels.count(x: x(0.5), isRed) == 0)
        #expect(pixels.count(x: x(0.5), isBlue) > 100 && pixels.count(x: x(2.5), isBlue) > 100)
        #expect(pixels.count(x: x(4), isBlue) == 0, "not yet played")
    }

    @Test func barsHaveTheirWidthAndSpace() throws {
        var style = PictureStyle()
        (style.barWidth, style.spacing, style.width) = (2, 8, 400)
        style.shows = .peak
        #expect(style.barCount == 32)
        let pixels = try Pixels(WaveformPicture(title: "", rows: [row(style)], style: style).file(.png), width: 400)
        let isBar = (58..<158).map { pixels.count(x: $0, isBlue) > 50 }
        #expect((0..<10).allSatisfy { bar in (0..<10).allSatisfy { isBar[bar * 10 + $0] == ($0 < 2) } }, "\(isBar)")
    }

    @Test func thePictureIsWellFormedWhateverItShows() throws {
        for bars in [Bars(), bars(1), bars(65_536)] {
            var row = WaveformPicture.Row(title: "one", bars: bars, rate: rate)
            row.markedRanges = [MarkedRange(.seconds(-5) ..< .seconds(500)), MarkedRange(.zero ..< .zero, .recovered)]
            row.losses = [.zero, .seconds(100_000)]
            row.delays = [(.zero, .seconds(10)), (.seconds(1), .zero)]
            row.position = .seconds(100_000)
            var style = PictureStyle()
            for (width, height) in [(200, 120), (1_200, nil)] as [(Int, Int?)] {
                (style.width, style.height) = (width, height)
                style.isDark.toggle()
                let picture = WaveformPicture(title: "<a> & \"b\"\u{0}", note: "é 字", rows: [row, row], style: style)
                let svg = String(decoding: try picture.file(.svg), as: UTF8.self)
                #expect(svg.hasPrefix("<?xml") && svg.hasSuffix("</svg>\n") && !svg.contains("nan"))
                #expect(try picture.file(.png).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            }
        }
        #expect(try !WaveformPicture(title: "", rows: []).file(.svg).isEmpty)
    }
}

struct TerminalPictureTests {
    private func picture(_ width: Int = 46, _ height: Int = 8, _ change: (inout TerminalStyle) -> Void = { _ in })
        -> TerminalPicture
    {
        var style = TerminalStyle()
        (style.width, style.height) = (width, height)
        change(&style)
        return TerminalPicture(bars: bars(style.barCount), rate: rate, style: style)
    }

    @Test func eachLineFitsAndTheLowerHalfMirrorsTheUpper() {
        for usesBlocks in [false, true] {
            let lines = picture { $0.usesBlocks = usesBlocks }.lines
            #expect(lines.count == 9 && lines.allSatisfy { $0.count <= 46 })
            let filled = lines.prefix(8).map { line in line.dropFirst(6).count { $0 != " " && $0 != "\u{2800}" } }
            #expect(filled == filled.reversed() && filled[0] == 20 && filled[3] == 40, "\(filled)")
            #expect(lines[0].hasPrefix(" 0 dB ") && lines[3].hasPrefix("  −70 "))
            #expect(lines[8].contains("╵0 s") && lines[8].contains("╵5 s"), "\(lines[8])")
        }
    }

    @Test func coloursAreThereWhereTheyAreWanted() {
        var plain = picture()
        plain.markedRanges = [MarkedRange(.seconds(1) ..< .seconds(2))]
        plain.position = .seconds(7)
        #expect(!plain.text.contains("\u{1B}"))
        #expect(plain.lines[8].dropFirst(6) == "    ████" + String(repeating: " ", count: 32), "lost without colours")
        #expect(plain.lines[10].hasSuffix("▲ 0:07"))
        var coloured = plain
        coloured.style.hasColours = true
        #expect(coloured.text.contains("\u{1B}[38;5;167m"))
        #expect(coloured.text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain.text)
    }

    @Test func nothingOddBreaksIt() {
        for bars in [Bars(), bars(1), bars(9_999)] {
            for (width, height) in [(0, 0), (20, 3), (7, 1), (1_000, 200)] {
                var style = TerminalStyle()
                (style.width, style.height) = (width, height)
                var picture = TerminalPicture(bars: bars, rate: rate, style: style)
                picture.position = .seconds(1_000_000)
                picture.markedRanges = [MarkedRange(.seconds(-1) ..< .seconds(1_000))]
                #expect(!picture.lines.isEmpty)
            }
        }
    }
}

struct LevelViewTests {
    private func levelHistory(_ levels: [(Float, concealed: Int)]) -> LevelHistory {
        var levelHistory = LevelHistory()
        for (level, concealed) in levels {
            let sound = [Float](repeating: level, count: 480)
            for piece in 0..<10 {
                levelHistory.append(sound.span, frameCount: 480, concealed: piece == 0 ? concealed : 0)
            }
        }
        return levelHistory
    }

    @Test func aTrailKeepsTheLastThreeSeconds() {
        let levels = (0..<50).map { (Float($0) / 100, concealed: 0) }
        let levelHistory = levelHistory(levels)
        #expect(
            levelHistory.count == 50 && levelHistory.steps(after: 0).count == 32
                && levelHistory.steps(after: 50).isEmpty)
        #expect(levelHistory.steps(after: 48).map(\.peak) == [0.48, 0.49])
        #expect(abs(levelHistory.steps(after: 49)[0].meanSquare - 0.49 * 0.49) < 1e-4)
    }

    @Test func concealmentDoneAtOnceIsSpreadOverItsTime() {
        let steps = levelHistory([(0.1, concealed: 0), (0.1, concealed: 12_000), (0.1, 0), (0.1, 0), (0.1, 0)]).steps(
            after: 0)
        #expect(steps.map(\.concealedShare) == [0, 1, 1, 0.5, 0])
    }

    @Test func theNewestIsAtTheRightAndWhatWasLostIsSeenWithoutColours() {
        var view = LevelView(name: "heard")
        view.append(levelHistory([(1, concealed: 0), (0, concealed: 4_800)]))
        let lines = view.lines(width: 20, height: 3, hasColours: false)
        #expect(
            lines.map { String($0.dropFirst(6)) } == ["            █ ", "            █ ", "            █×"], "\(lines)")
        #expect(lines[2].hasPrefix("heard ") && lines[0].hasPrefix(" 0 dB "))
        // Appending the same steps again changes nothing.
        view.append(levelHistory([(1, concealed: 0), (0, concealed: 4_800)]))
        #expect(view.lines(width: 20, height: 3, hasColours: false) == lines)
        #expect(view.lines(width: 20, height: 3, hasColours: true)[2].contains("\u{1B}[38;5;167m×"))
    }
}
