public import ArgumentParser
import CLinux
import Glibc
import TenfourAudioCore
public import TenfourAudioFile
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio

/// The options for samples without a header. If they are missing, a file or pipe of unknown format is refused, since it
/// would be sent as noise.
struct RawAudioOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The rate of samples without a header, in hertz. Default with --format: 48000.", valueName: "hertz")
    )
    var rate: Int?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The format of samples without a header, by its ALSA name. Default with --rate: S16_LE.",
            valueName: "format"))
    var format: SampleCoding?

    func validate() throws {
        if let rate, !AudioFileReader.rates.contains(rate) {
            throw ValidationError("--rate \(rate) is not a sample rate: write 1000 to 768000.")
        }
    }

    /// Returns the format of the samples; nil if neither option was given.
    func raw(channelCount: Int) -> RawFormat? {
        guard rate != nil || format != nil else { return nil }
        return RawFormat(
            coding: format ?? .signed16,
            format: LPCMFormat(rate: SampleRate(hertz: rate ?? 48_000), channelCount: channelCount))
    }

    /// The end of an error message for an unknown format.
    static let remedy = "samples without a header need their format and rate, such as -f S16_LE -r 48000"
}

extension SampleCoding: ExpressibleByArgument {}

/// Recognises the data on standard input without consuming it.
enum StandardInput {
    /// Whether standard input begins with the header of a WAV file. Blocks until its first 12 bytes have arrived. False
    /// for a terminal or a socket, which cannot be peeked. The C functions are `pread` and `tee`.
    static var isWAV: Bool {
        var status = stat()
        guard unsafe fstat(STDIN_FILENO, &status) == 0 else { return false }
        var start = [UInt8](repeating: 0, count: 12)
        if status.st_mode & S_IFMT == S_IFREG {
            guard unsafe pread(STDIN_FILENO, &start, 12, lseek(STDIN_FILENO, 0, SEEK_CUR)) == 12 else { return false }
        } else {
            guard status.st_mode & S_IFMT == S_IFIFO, peek(into: &start) else { return false }
        }
        return ["RIFF", "RF64", "BW64"].contains { start.starts(with: $0.utf8) }
            && start.dropFirst(8).elementsEqual("WAVE".utf8)
    }

    /// Fills `start` with the pipe's first bytes without consuming them. Returns false if the pipe ends before `start`
    /// is full.
    private static func peek(into start: inout [UInt8]) -> Bool {
        var before = -1
        while true {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { return false }
            defer { for end in ends { close(end) } }
            let count = tee(STDIN_FILENO, ends[1], start.count, 0)
            if count < 0, errno == EINTR { continue }
            if count == start.count { return unsafe read(ends[0], &start, count) == count }
            // Returns false if the pipe has ended with fewer bytes than a header.
            guard count > 0, count != before || !hasEnded else { return false }
            before = count
            usleep(5_000)
        }
    }

    private static var hasEnded: Bool {
        var input = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        return unsafe poll(&input, 1, 0) > 0 && Int32(input.revents) & POLLHUP != 0
    }
}

/// Opens audio to be sent through the player: an address, a file, a pipe or a device.
enum SentAudio {
    /// Opens `place`, an address or path as typed. Blocks until the format is known; throws `.unavailable` if it is not
    /// audio.
    static func open(
        _ place: String, channelCount: Int, _ configure: (inout StreamerConfiguration) -> Void = { _ in }
    ) throws(RadioError) -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.gain = .none
        configuration.output = .source
        configuration.channelCount = channelCount
        configure(&configuration)
        do throws(StreamError) {
            let streamer = try Streamer(configuration)
            streamer.open(Secrets.reveal(place))
            // Waits for a file or pipe only, because the server of an address may be slow to answer.
            while !isAddress(place), streamer.track == nil, !streamer.state.isOver { usleep(5_000) }
            if case .failed(let error) = streamer.state {
                streamer.close()
                throw error
            }
            return streamer
        } catch {
            let name = place == "-" ? "standard input" : Secrets.shown(place)
            let remedy = error.isOfUnknownBytes ? "; \(RawAudioOptions.remedy)" : ""
            throw RadioError(.unavailable, error.sentence(about: name) + remedy)
        }
    }

    /// Throws the error with which the input ended: `.failure` if a part of it was sent, else `.unavailable`, also if it
    /// contained no audio.
    static func checkEnd(of streamer: Streamer?) throws(RadioError) {
        guard let streamer else { return }
        let (state, progress) = (streamer.state, streamer.progress)
        var name = streamer.queue.indices.contains(progress.item) ? streamer.queue[progress.item].name : "the input"
        if name == "-" { name = "standard input" }
        if case .failed(let error) = state {
            guard case .read = error else { throw RadioError(.unavailable, error.description) }
            throw RadioError(progress.played > .zero ? .failure : .unavailable, error.sentence(about: name))
        }
        if state == .ended(.finished), progress.played == .zero {
            throw RadioError(.unavailable, "\(name): it contains no audio; name another file")
        }
    }
}

extension StreamError {
    /// Whether the bytes have no known format.
    var isOfUnknownBytes: Bool {
        kind == .unknownFormat
    }
}
