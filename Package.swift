// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]

/// A room: a library target that may import exactly what is listed.
func room(_ name: String, imports: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: imports, swiftSettings: settings)
}

/// The tests of a room. Every one of them may use what lies in Tests/Support.
func tests(_ name: String, imports: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: imports + ["Support"], swiftSettings: settings)
}

/// A C library: a module map and a shim, nothing else.
func clib(_ name: String, pkgConfig: String, debian: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "tenfour",
    products: [
        .executable(name: "tenfour", targets: ["tenfour"]),
        .executable(name: "badlink", targets: ["badlink"]),
        .library(name: "Radio", targets: ["Radio"]),
        .library(name: "Engine", targets: ["Engine"]),
        .library(name: "Playout", targets: ["Playout"]),
        .library(name: "RTP", targets: ["RTP"]),
        .library(name: "Sound", targets: ["Sound"]),
        .library(name: "BadLink", targets: ["BadLink"]),
        .library(name: "Player", targets: ["Player", "Feed", "Effects"]),
    ],
    traits: [
        .default(enabledTraits: ["FFmpeg"]),
        .trait(
            name: "FFmpeg",
            description: "Plays what FFmpeg plays. Debian builds it as GPL: without it, Ogg Opus and WAV are played."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
    ],
    targets: [
        clib("COpus", pkgConfig: "opus", debian: "libopus-dev"),
        clib("CALSA", pkgConfig: "alsa", debian: "libasound2-dev"),
        clib("CUV", pkgConfig: "libuv", debian: "libuv1-dev"),
        clib("CSpeexDSP", pkgConfig: "speexdsp", debian: "libspeexdsp-dev"),
        clib("CSodium", pkgConfig: "libsodium", debian: "libsodium-dev"),
        clib("CSRTP", pkgConfig: "libsrtp2", debian: "libsrtp2-dev"),
        clib("CQRencode", pkgConfig: "libqrencode", debian: "libqrencode-dev"),

        // Opened by the first call that needs them (Sources/COnDemand) and never linked, which pkg-config would bring about.
        .systemLibrary(name: "CSndFile"),
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "CCairo"),
        .systemLibrary(name: "CAV"),
        .systemLibrary(name: "CSDBus"),

        .systemLibrary(name: "CTee"),
        .systemLibrary(name: "CTimerFD"),
        .systemLibrary(name: "CTimex"),
        .systemLibrary(name: "CLinux"),

        room("Sound"),
        room("RTP", imports: ["Sound"]),
        room("Playout", imports: ["Sound", "RTP"]),
        room("Quality", imports: ["Sound", "RTP", "Playout"]),
        room("Engine", imports: ["Sound", "RTP"]),
        room("Keys", imports: ["CSodium", "CSRTP", "Sound", "RTP", "Engine"]),
        room("Membership", imports: ["Sound", "RTP", "Engine", "Keys"]),
        room("Relaying", imports: ["Sound", "RTP", "Engine", "Keys"]),
        room("PacketCapture", imports: ["Sound", "Engine"]),
        room("Handoff"),
        room("BadLink", imports: ["Sound"]),
        room("OpusCodec", imports: ["COpus", "Sound"]),
        room("Resampling", imports: ["CSpeexDSP", "Sound"]),
        room("SoundFile", imports: ["CSndFile", "Sound"]),
        room("DBus", imports: ["CSDBus"]),
        room("SoundCard", imports: ["CALSA", "CLinux", "DBus", "Sound"]),
        room("Network", imports: ["CUV", "CTimex", "Engine", "Sound"]),
        room("RelayService", imports: ["Sound", "RTP", "Engine", "Keys", "Relaying", "Handoff", "Network"]),
        room(
            "Radio",
            imports: [
                "Sound", "RTP", "Keys", "Playout", "Engine", "Membership", "Relaying", "Handoff", "OpusCodec",
                "Resampling", "SoundFile", "SoundCard", "Network", "TimePitch",
            ]),
        room("Simulation", imports: ["Sound", "RTP", "Playout", "Quality", "Engine", "Radio"]),
        room(
            "RadioCheck",
            imports: ["Sound", "RTP", "Playout", "OpusCodec", "Quality", "Engine", "Radio", "BadLink", "Simulation"]),
        room("Waveform", imports: ["Sound", "CCairo"]),
        room("Feed", imports: ["Sound", "OpusCodec", "Resampling"]),
        room("HTTPFeed", imports: ["CCurl", "Sound", "Feed", "Handoff", "Network"]),
        room("FFmpegFeed", imports: ["CAV", "Sound", "Feed"]),
        room("TimePitch", imports: ["Sound"]),
        room("Effects", imports: ["Sound"]),
        room(
            "Player",
            imports: [
                "Sound", "Feed", "HTTPFeed", "TimePitch", "Effects", "Handoff", "SoundCard", "SoundFile",
                .target(name: "FFmpegFeed", condition: .when(traits: ["FFmpeg"])),
            ]),
        room("QRCode", imports: ["CQRencode"]),
        room("Console", imports: ["BadLink", "Network", "Radio", "Sound", "SoundFile", argumentParser]),

        .executableTarget(
            name: "tenfour",
            dependencies: [
                "Radio", "Membership", "Sound", "RTP", "Engine", "Keys", "Network", "Playout", "QRCode", "Quality",
                "Relaying", "RelayService", "SoundCard", "SoundFile", "Waveform", "Console", "Feed", "Handoff",
                "Player", "CLinux", "CTee",
                argumentParser,
            ],
            swiftSettings: settings),

        .executableTarget(
            name: "badlink",
            dependencies: [
                "BadLink", "Console", "Network", "Engine", "Quality", "Radio", "Sound", "CTimerFD", argumentParser,
            ],
            path: "Tools/Programs/badlink",
            swiftSettings: settings),

        .executableTarget(
            name: "losslab",
            dependencies: [
                "BadLink", "Engine", "OpusCodec", "Playout", "RTP", "Radio", "Resampling", "Sound", "SoundFile",
                "TimePitch", argumentParser,
            ],
            path: "Tools/Programs/losslab",
            swiftSettings: settings),
        .executableTarget(
            name: "relayload",
            dependencies: ["Relaying", "Keys", "Network", "Engine", "RTP", "Sound", argumentParser],
            path: "Tools/Programs/relayload",
            swiftSettings: settings),

        .executableTarget(
            name: "replay",
            dependencies: [
                "PacketCapture", "Simulation", "Quality", "Console", "Radio", "Engine", "Playout", "RTP", "Sound",
                "SoundFile", "TimePitch", argumentParser,
            ],
            path: "Tools/Programs/replay",
            swiftSettings: settings),

        .executableTarget(
            name: "radiocheck",
            dependencies: [
                "RadioCheck", "BadLink", "Quality", "Console", "Radio", "Engine", "RTP", "Network", "Sound",
                "SoundFile",
                argumentParser,
            ],
            path: "Tools/Programs/radiocheck",
            swiftSettings: settings),

        .executableTarget(
            name: "badnet",
            dependencies: [
                "RadioCheck", "Simulation", "Waveform", "BadLink", "Quality", "Console", "Radio", "Engine", "Playout",
                "Sound",
                "SoundFile", argumentParser,
            ],
            path: "Tools/Programs/badnet",
            swiftSettings: settings),

        // What README.md shows, as a stranger would build it: without our settings.
        .executableTarget(name: "send-a-file", dependencies: ["Radio"], path: "Tests/ReadmePrograms/send"),
        .executableTarget(name: "hear", dependencies: ["Radio"], path: "Tests/ReadmePrograms/hear"),
        .executableTarget(name: "play", dependencies: ["Player"], path: "Tests/ReadmePrograms/play"),

        // For tests of what happens to a process as a whole.
        .executableTarget(
            name: "longturn", dependencies: ["SoundCard"], path: "Tests/Programs/longturn", swiftSettings: settings),

        .target(
            name: "Support",
            dependencies: [
                "Sound", "RTP", "Keys", "Membership", "Playout", "Engine", "PacketCapture", "BadLink", "SoundCard",
                "Relaying", "RelayService", "Feed", "Handoff", "HTTPFeed", "Network",
                .target(name: "FFmpegFeed", condition: .when(traits: ["FFmpeg"])),
            ],
            path: "Tests/Support",
            swiftSettings: settings),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .target(name: "CMACs", path: "Tests/CMACs"),
        tests("SupportTests", imports: []),
        tests("SoundTests", imports: ["Sound"]),
        tests("RTPTests", imports: ["BadLink", "RTP", "Sound"]),
        tests("KeysTests", imports: ["BadLink", "Keys", "RTP", "Sound"]),
        tests("PlayoutTests", imports: ["Playout", "RTP", "Sound"]),
        tests("QualityTests", imports: ["Quality", "Playout", "RTP", "Sound"]),
        tests(
            "MembershipTests",
            imports: ["Membership", "Relaying", "Radio", "Keys", "Engine", "BadLink", "Playout", "RTP", "Sound"]),
        tests(
            "RelayingTests",
            imports: ["CAllocations", "CMACs", "Relaying", "Keys", "Engine", "BadLink", "RTP", "Sound"]),
        tests(
            "RelayServiceTests",
            imports: [
                "CAllocations", "RelayService", "Relaying", "Membership", "Network", "Handoff", "Keys", "Engine",
                "BadLink",
                "RTP", "Sound",
            ]),
        tests("PacketCaptureTests", imports: ["PacketCapture", "Engine", "Sound"]),
        tests("SimulationTests", imports: ["Simulation", "Quality", "Engine", "Playout", "Radio", "RTP", "Sound"]),
        tests(
            "RadioCheckTests",
            imports: ["RadioCheck", "Simulation", "BadLink", "Quality", "Engine", "Radio", "RTP", "Sound"]),
        tests("QRCodeTests", imports: ["QRCode"]),
        tests("WaveformTests", imports: ["Waveform", "Sound"]),
        tests("FeedTests", imports: ["BadLink", "Feed", "Sound"]),
        tests("HTTPFeedTests", imports: ["HTTPFeed", "Feed", "Network", "Sound"]),
        tests(
            "FFmpegFeedTests",
            imports: [
                .target(name: "FFmpegFeed", condition: .when(traits: ["FFmpeg"])), "BadLink", "Feed", "Handoff",
                "Sound",
            ]),
        tests("TimePitchTests", imports: ["TimePitch", "Sound"]),
        tests("EffectsTests", imports: ["Effects", "TimePitch", "Sound"]),
        tests("PlayerTests", imports: ["Player", "Feed", "Handoff", "Effects", "SoundCard", "SoundFile", "Sound"]),
        tests("EngineTests", imports: ["Engine", "BadLink", "RTP", "Sound"]),
        tests("ConversationTests", imports: ["Engine", "BadLink", "Playout", "RTP", "Sound"]),
        tests("HandoffTests", imports: ["Handoff"]),
        tests("BadLinkTests", imports: ["BadLink", "Sound"]),
        tests("BadLinkProxyTests", imports: ["badlink", "BadLink", "Network", "Engine", "Radio", "Sound"]),
        tests("OpusCodecTests", imports: ["BadLink", "OpusCodec", "Sound"]),
        tests("ResamplingTests", imports: ["Resampling", "Sound"]),
        tests("SoundFileTests", imports: ["BadLink", "SoundFile", "Sound"]),
        tests("DBusTests", imports: ["DBus"]),
        tests("SoundCardTests", imports: ["SoundCard", "Sound", "DBus", "longturn"]),
        tests("NetworkTests", imports: ["Network", "Engine", "Sound"]),
        tests(
            "RadioTests",
            imports: [
                "CAllocations", "Radio", "BadLink", "Engine", "Keys", "Membership", "Handoff", "Network", "OpusCodec",
                "Playout", "RTP", "Relaying", "Sound", "SoundCard", "SoundFile", "TimePitch",
            ]),
        tests("ReadmeTests", imports: ["send-a-file", "hear", "play", "SoundFile", "Sound"]),
        tests("ToolTests", imports: ["badlink", "replay", "radiocheck", "badnet", "tenfour"]),
        tests(
            "CommandTests",
            imports: ["BadLink", "tenfour", "Radio", "Membership", "Keys", "Engine", "Quality", "RTP", "Sound"]),
        tests("InteropTests", imports: ["tenfour"]),
    ],
    swiftLanguageModes: [.v6]
)

// Tools/test --places builds only the tests that it runs.
if let suites = Context.environment["TENFOUR_SUITES"] {
    let chosen = suites.split(separator: " ").map(String.init)
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
}

// The fuzzer's main is libFuzzer's: an ordinary build could not link it.
if Context.environment["TENFOUR_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["Support"],
            path: "Tools/Programs/fuzz",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
