internal import Glibc
public import TenfourAudioCore
public import TenfourSoundCard
internal import TenfourUV

/// What is known about the sound card that a session would use, and about the user's sound server.
public struct SoundFacts: Sendable {
    /// The result of opening the card in one direction.
    public enum Opening: Sendable {
        /// The card was opened; `name` is its driver's name, possibly empty, and `rate` that at which it runs.
        case opened(name: String, rate: SampleRate)
        case failed(SoundCardError)
    }

    /// The name by which the card is opened, such as `default`.
    public var device: String
    public var playback: Opening
    public var capture: Opening
    /// The highest magnitude that was captured in a third of a second, 0…1; nil if nothing was captured.
    public var capturedPeak: Float?
    public var server: SoundServerFacts
    /// The device files in `/dev/snd` that this user may not open.
    public var forbiddenFiles: [String] = []
    /// The group that owns the first of them; nil if it has no name.
    public var group: String?
    /// Whether this user is a member of that group by `/etc/group`, even if this session does not have it yet.
    public var isMemberSoon = false

    public init(device: String, playback: Opening, capture: Opening, server: SoundServerFacts) {
        self.device = device
        self.playback = playback
        self.capture = capture
        self.server = server
    }
}

/// The sound server of the user.
public struct SoundServerFacts: Sendable, Hashable {
    public enum Kind: Hashable, Sendable { case pipewire, pulseAudio }

    /// The server whose socket is in the user's runtime directory; nil if none is.
    public var running: Kind?
    /// The server that is installed; nil if none is.
    public var installed: Kind?
    /// Whether alsa-lib has the plugin through which it plays to that server.
    public var hasPlugin = false

    public init(running: Kind? = nil, installed: Kind? = nil, hasPlugin: Bool = false) {
        self.running = running
        self.installed = installed
        self.hasPlugin = hasPlugin
    }

    /// Looks for the server's socket, program and plugin in the machine's folders.
    init(on machine: Machine) {
        if let folder = machine.runtimeDirectory {
            if machine.exists("\(folder)/pipewire-0") {
                running = .pipewire
            } else if machine.exists("\(folder)/pulse/native") {
                running = .pulseAudio
            }
        }
        if machine.exists("/usr/bin/pipewire") {
            installed = .pipewire
        } else if machine.exists("/usr/bin/pulseaudio") {
            installed = .pulseAudio
        }
        guard let kind = running ?? installed else { return }
        // PipeWire plays what a program sends to PulseAudio, too.
        let names = (kind == .pipewire ? ["pipewire", "pulse"] : ["pulse"]).map { "libasound_module_pcm_\($0).so" }
        let libraries =
            ["/usr/lib", "/usr/lib64"]
            + Directory.names(in: machine.root + "/usr/lib").filter { $0.contains("-linux-") }.map { "/usr/lib/\($0)" }
        hasPlugin = libraries.contains { folder in names.contains { machine.exists("\(folder)/alsa-lib/\($0)") } }
    }
}

extension SoundFacts {
    /// Opens the card in both directions, listens for a third of a second, and looks at the files of the system. Blocks
    /// for up to a second, or longer with a sound server that does not answer.
    static func gathered(_ device: String, on machine: Machine) -> SoundFacts {
        // Keeps JACK's plugin from starting a server.
        unsafe setenv("JACK_NO_START_SERVER", "1", 0)
        var facts = SoundFacts(
            device: device, playback: playback(device), capture: .failed(.noCard(device)),
            server: SoundServerFacts(on: machine))
        (facts.capture, facts.capturedPeak) = capture(device)
        facts.readRights(on: machine)
        return facts
    }

    private static func playback(_ device: String) -> Opening {
        do throws(SoundCardError) {
            let card = try PlaybackCard(device: device, period: period, target: FrameCount(4 * period.rawValue))
            return .opened(name: card.granted.cardName, rate: card.granted.format.rate)
        } catch {
            return .failed(error)
        }
    }

    private static func capture(_ device: String) -> (Opening, Float?) {
        do throws(SoundCardError) {
            var card = try CaptureCard(device: device, period: period)
            let opening = Opening.opened(name: card.granted.cardName, rate: card.granted.format.rate)
            return (opening, peak(&card))
        } catch {
            return (.failed(error), nil)
        }
    }

    /// The highest magnitude in a third of a second. Nil if the card is lost or has no clock, as ALSA's `null`.
    private static func peak(_ card: inout CaptureCard) -> Float? {
        var samples = [Float](repeating: 0, count: card.frame.rawValue * card.granted.format.channelCount)
        var (peak, frames) = (Float(0), 0)
        let wanted = card.granted.format.rate.hertz / 3
        let end = ContinuousClock.now + .seconds(2)
        while frames < wanted, ContinuousClock.now < end {
            var span = samples.mutableSpan
            guard case .captured = card.read(into: &span) else { continue }
            frames += card.frame.rawValue
            peak = samples.reduce(peak) { max($0, abs($1)) }
        }
        return frames < wanted ? nil : peak
    }

    private static let period = FrameCount(960)

    private mutating func readRights(on machine: Machine) {
        let folder = "/dev/snd"
        let files = Directory.names(in: machine.root + folder).sorted().filter {
            $0.hasPrefix("pcm") || $0.hasPrefix("control")
        }
        forbiddenFiles = files.map { "\(folder)/\($0)" }.filter {
            unsafe access(machine.root + $0, R_OK | W_OK) != 0
        }
        guard let first = forbiddenFiles.first else { return }
        var status = stat()
        guard unsafe stat(machine.root + first, &status) == 0,
            let entry = machine.text(of: "/etc/group")?.split(separator: "\n").first(where: {
                $0.split(separator: ":", omittingEmptySubsequences: false).dropFirst(2).first == "\(status.st_gid)"
            })
        else { return }
        let fields = entry.split(separator: ":", omittingEmptySubsequences: false)
        group = String(fields[0])
        let members = fields.dropFirst(3).first?.split(separator: ",") ?? []
        isMemberSoon = machine.environment["USER"].map { user in members.contains { $0 == user } } ?? false
    }
}
