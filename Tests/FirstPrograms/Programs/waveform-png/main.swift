import Foundation
import TenfourAudioCore
import TenfourPlayer
import TenfourWaveform

/// Reduces the audio at `address` to bars, one for each place in a picture of this style.
func bars(of address: String, _ style: PictureStyle) throws -> Bars {
    var source = try ReaderSource(address)
    let channelCount = source.format.channelCount
    var reduction = BarReduction(
        barCount: style.barCount, channelCount: channelCount, expecting: source.frameCount?.value)
    var samples = [Float](repeating: 0, count: 4_096 * channelCount)
    while true {
        var room = samples.mutableSpan
        let count = try source.read(into: &room).rawValue
        if count == 0 { return reduction.bars() }
        reduction.append(samples.span.extracting(0..<count * channelCount))
    }
}

// waveform-png song.mp3 song.png
let address = CommandLine.arguments[1]
let row = WaveformPicture.Row(bars: try bars(of: address, PictureStyle()))
let picture = try WaveformPicture(title: address, rows: [row]).file(.png)
try Data(picture).write(to: URL(filePath: CommandLine.arguments[2]))
