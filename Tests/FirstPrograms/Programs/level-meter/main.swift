import TenfourAudioCore
import TenfourPlayer

// level-meter song.mp3
var configuration = StreamerConfiguration()
configuration.output = .clock  // in real time, without a card
configuration.tap = { block in
    let level = Int(Level(rootMeanSquareOf: block.samples.span).decibels.rounded())
    print(block.position.value, String(repeating: "=", count: max(level + 60, 0)), level)
    if block.lost != .zero { print("\(block.lost.rawValue) frames were lost before this block") }
}
let streamer = try Streamer(configuration)
try streamer.playToEnd(CommandLine.arguments[1])
streamer.close()
