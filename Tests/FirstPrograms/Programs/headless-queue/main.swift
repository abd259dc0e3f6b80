import TenfourMediaSource
import TenfourPlayer

// headless-queue one.mp3 two.flac three.m3u
var configuration = StreamerConfiguration()
configuration.output = .clock  // in real time, without a card
let streamer = try Streamer(configuration)
let events = streamer.events
streamer.open(Array(CommandLine.arguments.dropFirst()))
streamer.play()
for await event in events {
    switch event {
    case .item(let index, let track): print("\(index + 1): \(track.codec), \(streamer.queue[index].name)")
    case .skipped(let index, let error): print("\(index + 1): \(error.kind), \(error)")
    case .state(.ended(let reason)):
        print("ended: \(reason)")
        streamer.close()
    case .state(.failed(let error)):
        print("failed: \(error)")
        streamer.close()
    default: break
    }
}
