import Glibc
import TenfourAudioCore
import TenfourMediaSource

// about song.flac
do {
    let path = CommandLine.arguments.dropFirst().first ?? "-"
    let reader = try openReader(FileByteSource.open(path), format: nil)
    let track = reader.demuxer.track
    print("\(track.codec), \(track.format.rate.hertz) Hz")

    let channelCount = reader.format.channelCount
    var samples = [Float](repeating: 0, count: 4_800 * channelCount)
    var (frameCount, peak) = (FrameCount.zero, Float(0))
    while true {
        var space = samples.mutableSpan
        let count = try reader.read(into: &space)
        if count == .zero { break }
        frameCount += count
        for sample in samples.prefix(count.rawValue * channelCount) { peak = max(peak, abs(sample)) }
    }
    print("\(frameCount.duration(at: reader.format.rate)) of audio")
    print("peak \(Int((100 * peak).rounded()))%")
} catch {
    print(error)
    exit(1)
}
