internal import Glibc
internal import TenfourAudioCore
internal import TenfourRadio
public import TenfourSoundCard

/// The outcome of a request for real-time priority.
public struct RealTimeFacts: Sendable {
    public var outcome: RealTime

    public init(_ outcome: RealTime) { self.outcome = outcome }
}

/// This machine's clock.
public struct ClockFacts: Sendable {
    /// The clock of another machine.
    public struct Comparison: Hashable, Sendable {
        /// The other machine, safe to display.
        public var other: String
        /// The other clock less ours.
        public var difference: Duration

        public init(other: String, difference: Duration) {
            self.other = other
            self.difference = difference
        }
    }

    /// Whether the kernel considers its clock synchronised.
    public var isSynchronised: Bool
    /// Whether systemd-timesyncd, chrony or ntpd is installed.
    public var hasService: Bool
    /// Set when the other ends are known.
    public var comparisons: [Comparison] = []

    public init(isSynchronised: Bool, hasService: Bool) {
        self.isSynchronised = isSynchronised
        self.hasService = hasService
    }

    /// The difference from which it is told. A relay's answer may take this long.
    static let smallestDifference = Duration.seconds(1)
    /// The difference from which the members of a channel discard the audio of a synchronised clock
    /// (Protocol/05-channel-keys.md).
    static let largestDifference = Duration.seconds(10)

    init(on machine: Machine, isSynchronised: Bool) {
        self.isSynchronised = isSynchronised
        hasService = [
            "/usr/lib/systemd/systemd-timesyncd", "/lib/systemd/systemd-timesyncd", "/usr/sbin/chronyd",
            "/usr/sbin/ntpd",
        ].contains { machine.exists($0) }
    }
}

/// What a session needs of files.
public struct FileFacts: Sendable {
    /// The limit of open files; nil if it is unknown.
    public var openFiles: Int?
    /// The free space where recordings are written, in bytes; nil if it is unknown.
    public var freeBytes: UInt64?
    public var directory: String

    public init(openFiles: Int?, freeBytes: UInt64?, directory: String) {
        self.openFiles = openFiles
        self.freeBytes = freeBytes
        self.directory = directory
    }

    static let fewestFiles = 256
    /// An hour of Opus takes about 12 MB.
    static let leastBytes: UInt64 = 100_000_000
}

extension FileFacts {
    /// The C functions are `getrlimit` and `statvfs`, with the nearest folder that exists.
    static func gathered(_ directory: String) -> FileFacts {
        var limit = rlimit()
        let hasLimit = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        var (folder, space) = (directory, statvfs())
        while unsafe statvfs(folder, &space) != 0 {
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else {
                return FileFacts(openFiles: nil, freeBytes: nil, directory: directory)
            }
            folder = String(folder[..<slash])
        }
        return FileFacts(
            openFiles: hasLimit ? Int(clamping: limit.rlim_cur) : nil,
            freeBytes: UInt64(space.f_bavail) * UInt64(space.f_frsize), directory: directory)
    }
}

extension DiagnosticCheck {
    /// Whether audio threads get real-time priority.
    static let realTime = DiagnosticCheck(name: "real time") { facts in
        facts.realTime.map { [$0.finding(facts.packages)] }
    }

    /// Whether the clock is right.
    static let clock = DiagnosticCheck(name: "clock") { facts in facts.clock.map { $0.findings(facts.packages) } }

    /// Whether enough files can be opened, and recordings written.
    static let files = DiagnosticCheck(name: "files") { facts in facts.files.map { $0.findings } }
}

extension RealTimeFacts {
    func finding(_ packages: PackageManager) -> Finding {
        let text = "audio threads get no real-time priority, so that audio may stutter under load"
        guard case .denied(let priority, let denial) = outcome else {
            return .well("audio threads get \(outcome)")
        }
        let limit =
            "put '@audio - rtprio \(priority)' into /etc/security/limits.d/audio.conf, and log in again as a member of"
            + " the group audio"
        let remedy =
            switch denial.realtimeKit {
            case .noLibrary: "\(packages.command("rtkit", "libsystemd0")), or \(limit)."
            case .noBus, .noService: "\(packages.command("rtkit")), or \(limit)."
            case .refused, .wrongAnswer, .noLimit:
                "Log in at this machine's own screen, which RealtimeKit requires, or \(limit)."
            case .timedOut: "Restart RealtimeKit (`sudo systemctl restart rtkit-daemon`), or \(limit)."
            }
        return .limit(.noRealTime, text, remedy)
    }
}

extension ClockFacts {
    func findings(_ packages: PackageManager) -> [Finding] {
        let remedy =
            hasService
            ? "Let it be set over the network: \(ClockWords.setting)."
            : "Install a service that sets it: \(packages.command("systemd-timesyncd"))."
        var findings = comparisons.filter { abs($0.difference) >= Self.smallestDifference }.map { other in
            let text = "\(ClockWords.difference(other.difference, from: other.other)); \(ClockWords.consequence)"
            // The other clock may be the wrong one, unless the kernel doubts ours.
            let remedy = isSynchronised ? "Either may be wrong: \(ClockWords.comparison)." : remedy
            guard abs(other.difference) >= Self.largestDifference else {
                return Finding.limit(.wrongClock, text, remedy)
            }
            return .fault(.wrongClock, text, remedy)
        }
        if !isSynchronised {
            findings.append(
                .limit(
                    .unsynchronisedClock, "the clock \(ClockWords.unsynchronised)",
                    remedy + " In a virtual machine whose host sets the clock, use `--clock right`."))
        }
        guard findings.isEmpty else { return findings }
        let others = comparisons.map(\.other).joined(separator: " and ")
        return [.well("the clock is synchronised" + (others.isEmpty ? "" : ", and agrees with that of \(others)"))]
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

extension FileFacts {
    var findings: [Finding] {
        var findings: [Finding] = []
        if let openFiles, openFiles < Self.fewestFiles {
            findings.append(
                .limit(
                    .fewFiles, "only \(openFiles) files may be open at once",
                    "Raise the limit in this shell: `ulimit -n 1024`."))
        }
        if let freeBytes, freeBytes < Self.leastBytes {
            findings.append(
                .limit(
                    .littleSpace, "only \(freeBytes / 1_000_000) MB are free for recordings in \(directory)",
                    "Remove old recordings, or name another place with --record."))
        }
        if !findings.isEmpty { return findings }
        return [.well("files can be opened" + (freeBytes == nil ? "" : ", and there is space for recordings"))]
    }
}
