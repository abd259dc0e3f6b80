import Glibc
import TenfourPlayer

// play https://example.org/song.mp3
do {
    let address = CommandLine.arguments.dropFirst().first ?? "-"
    let streamer = try Streamer()  // on the default sound card
    streamer.rate = 1.25  // a quarter faster, at the same pitch
    try streamer.playToEnd(address)  // until all of it has sounded
    print("heard \(streamer.progress.position.value)")
} catch {
    print(error)
    exit(1)
}
