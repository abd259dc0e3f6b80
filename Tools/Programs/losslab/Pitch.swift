import ArgumentParser
import TenfourAudioCore
import TenfourAudioFile
import TenfourTimePitch

/// Changes rate and pitch of a sound file as the player does.
struct Pitch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the rate and the pitch of a recording independently.")

    @Argument(help: "A sound file.")
    var input: String

    @Argument(help: "The WAV file to write.")
    var output: String

    @Option(help: "Rate, 0.25 to 32.")
    var rate = 1.0

    @Option(help: "Pitch change in cents; positive is higher.")
    var cents = 0.0

    func run() throws {
        var reader = try AudioFileReader(path: input)
        var writer = try AudioFileWriter(path: output, format: reader.format)
        var timePitch = TimePitch(format: reader.format)
        timePitch.rate = rate
        timePitch.pitch = cents
        let channelCount = reader.format.channelCount
        var sound = [Float](repeating: 0, count: 4_800 * channelCount)
        var timeScaled = sound
        while true {
            var room = sound.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { break }
            var taken = 0
            while taken < count {
                var space = timeScaled.mutableSpan
                let progress = timePitch.process(
                    sound.span.extracting(taken * channelCount..<count * channelCount), into: &space)
                taken += progress.consumed.rawValue
                try writer.write(timeScaled.span.extracting(0..<progress.produced.rawValue * channelCount))
            }
        }
        while true {
            var space = timeScaled.mutableSpan
            let count = timePitch.finish(into: &space).rawValue
            guard count > 0 else { break }
            try writer.write(timeScaled.span.extracting(0..<count * channelCount))
        }
        try writer.close()
    }
}
