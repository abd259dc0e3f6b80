// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]

// The modules in the order of their layers: each uses only modules above it (Tools/Programs/conventions.py checks this).
let modules: [Module] = [
    Module("Audio/AudioCore", optimizesTests: true),

    Module("Support/System", libraries: "CLinux"),
    Module("Support/SeededRandom"),
    Module("Support/JSON"),
    Module("Support/Pacing", uses: "AudioCore"),
    Module("Support/Clocks", uses: "AudioCore"),
    Module("Support/DBus", libraries: "CSDBus"),
    Module("Support/QRCode", libraries: "CQRencode"),

    Module("Audio/OpusCodec", uses: "AudioCore", libraries: "COpus", optimizesTests: true),
    Module("Audio/Resampling", uses: "AudioCore", libraries: "CSpeexDSP", optimizesTests: true),
    Module("Audio/G711Codec", uses: "AudioCore Resampling", optimizesTests: true),
    Module("Audio/TimePitch", uses: "AudioCore", optimizesTests: true),
    Module("Audio/Effects", uses: "AudioCore", testsUse: "TimePitch CAllocations", optimizesTests: true),
    Module(
        "Audio/AudioFile", uses: "AudioCore System", libraries: "CSndFile", testsUse: "CFileSyncs",
        optimizesTests: true),
    Module(
        "Audio/SoundCard", uses: "AudioCore System Pacing Clocks DBus", libraries: "CALSA CLinux",
        testsUse: "longturn"),
    Module(
        "Audio/VoiceProcessing", uses: "AudioCore System", libraries: "CSpeexDSP", testsUse: "CAllocations",
        optimizesTests: true),
    Module("Audio/Waveform", uses: "AudioCore", libraries: "CCairo", optimizesTests: true),

    Module("RTP/Packets", uses: "AudioCore", testsUse: "FuzzTargets", optimizesTests: true),
    Module("RTP/OggOpus", uses: "AudioCore Packets", libraries: "COgg"),
    Module("RTP/Session", uses: "AudioCore SeededRandom Pacing Packets"),
    Module("RTP/JitterBuffer", uses: "AudioCore Resampling Packets", optimizesTests: true),
    Module("RTP/CallQuality", uses: "AudioCore JSON Packets JitterBuffer"),

    Module("Network/UV", uses: "AudioCore System Session", libraries: "CUV CLinux"),
    Module("Network/HTTPServer", uses: "AudioCore Session UV", libraries: "CMicroHTTPD"),
    Module("Network/NATS", uses: "AudioCore System Pacing Clocks", libraries: "CNATS"),
    Module("Network/DNSSD", uses: "AudioCore System Pacing Clocks DBus Session"),
    Module("Network/PacketCapture", uses: "AudioCore Session"),
    Module("Network/NetworkEmulator", uses: "AudioCore SeededRandom"),

    Module("Channel/Floor", uses: "AudioCore Pacing Packets"),
    Module("Channel/ChannelKeys", uses: "AudioCore System Packets Session Floor", libraries: "CSodium CSRTP"),
    Module("Channel/Pairing", uses: "AudioCore Pacing Session ChannelKeys", libraries: "CSodium"),
    Module("Channel/ManagedChannel", uses: "AudioCore Pacing Packets ChannelKeys", libraries: "CSodium"),
    Module(
        "Channel/ChannelMember", uses: "AudioCore Pacing Packets Session Floor ChannelKeys ManagedChannel",
        testsUse: "Radio"),

    Module(
        "Relay/RelayCore", uses: "AudioCore Pacing Packets Session Floor ChannelKeys Pairing ManagedChannel",
        testsUse: "CAllocations CMACs", optimizesTests: true),
    Module("Relay/RelayCluster", uses: "AudioCore Pacing Packets Floor ChannelKeys RelayCore"),
    Module(
        "Relay/RelayServer",
        uses: """
            AudioCore System Pacing Packets Session UV NATS Floor ChannelKeys ManagedChannel RelayCore RelayCluster
            """, testsUse: "ChannelMember CAllocations tenfour"),

    Module(
        "Player/MediaSource", uses: "AudioCore System OpusCodec Resampling AudioFile", libraries: "COgg CAV",
        optimizesTests: true),
    Module("Player/HTTPSource", uses: "AudioCore System Pacing UV MediaSource", libraries: "CCurl"),
    Module("Player/HLSSource", uses: "AudioCore System Pacing MediaSource"),
    Module(
        "Player/Player",
        uses: """
            AudioCore System SeededRandom Clocks OpusCodec TimePitch Effects AudioFile SoundCard Waveform OggOpus
            MediaSource HTTPSource HLSSource
            """),
    Module("Player/Desktop", uses: "AudioCore System Pacing Clocks DBus MediaSource Player", testsUse: "tenfour"),

    Module(
        "Radio/Transmissions", uses: "AudioCore System Pacing Clocks Packets OggOpus UV", libraries: "CLinux",
        testsUse: "CAllocations CFileSyncs", optimizesTests: true),
    Module(
        "Radio/PushToTalk", uses: "AudioCore System JSON Pacing Clocks UV", libraries: "CEvdev CGPIOD CLinux"),
    Module(
        "Radio/Radio",
        uses: """
            AudioCore System Pacing OpusCodec Resampling G711Codec TimePitch Effects AudioFile SoundCard VoiceProcessing
            Packets Session JitterBuffer UV Floor ChannelKeys ManagedChannel ChannelMember RelayCore MediaSource
            Transmissions
            """, testsUse: "PushToTalk CAllocations CFileSyncs"),
    Module(
        "Radio/LinkTest",
        uses: """
            AudioCore SeededRandom JSON OpusCodec Packets Session JitterBuffer CallQuality NetworkEmulator ChannelKeys
            Radio
            """, optimizesTests: true),
    Module("Radio/Call", uses: "AudioCore Session ChannelKeys"),
    Module("Radio/Lobby", uses: "AudioCore System Clocks Packets Session UV DNSSD ChannelKeys Pairing Radio Call"),
    Module(
        "Radio/Diagnosis",
        uses: "AudioCore System JSON Clocks SoundCard Packets Session UV DNSSD ChannelKeys Radio LinkTest Call",
        libraries: "CLinux"),

    Module(
        "Web/Web",
        uses: """
            AudioCore System JSON Pacing Clocks QRCode Packets OggOpus Session UV HTTPServer ChannelKeys ChannelMember
            RelayCore RelayServer
            """, libraries: "CShout", embeds: ["page.html"]),
    Module(
        "Web/Metrics",
        uses: """
            AudioCore System Clocks Packets Session JitterBuffer UV HTTPServer NATS Floor ChannelKeys ChannelMember
            RelayCore RelayCluster RelayServer Radio Web
            """),

    Module(
        "Command/CommandSupport", uses: "AudioCore AudioFile Packets Session UV NetworkEmulator Radio",
        libraries: "ArgumentParser", testsUse: "FuzzTargets"),
]

let programs: [Target] = [
    program(
        "tenfour", in: "Sources/Command/tenfour",
        uses: """
            AudioCore System JSON Pacing Clocks DBus QRCode Effects AudioFile SoundCard VoiceProcessing Waveform Packets
            Session JitterBuffer CallQuality UV HTTPServer NATS DNSSD Floor ChannelKeys Pairing ManagedChannel
            ChannelMember RelayCore RelayCluster RelayServer MediaSource Player Desktop Transmissions PushToTalk Radio
            Call Lobby Diagnosis Web Metrics CommandSupport
            """, libraries: "CLinux ArgumentParser"),
    program(
        "badlink", uses: "AudioCore JSON Session CallQuality UV NetworkEmulator Radio CommandSupport",
        libraries: "CLinux ArgumentParser"),
    program(
        "losslab",
        uses: "AudioCore OpusCodec Resampling TimePitch AudioFile Packets Session JitterBuffer NetworkEmulator Radio",
        libraries: "ArgumentParser"),
    program("voicelab", uses: "AudioCore System VoiceProcessing", libraries: "ArgumentParser"),
    program(
        "relayload", uses: "AudioCore Packets Session UV Floor ChannelKeys RelayCore", libraries: "ArgumentParser"),
    program(
        "replay",
        uses: """
            AudioCore JSON TimePitch AudioFile Packets Session JitterBuffer CallQuality PacketCapture Radio LinkTest
            CommandSupport
            """, libraries: "ArgumentParser"),
    program(
        "radiocheck",
        uses: """
            AudioCore JSON AudioFile Packets Session CallQuality UV NetworkEmulator ChannelKeys Radio LinkTest
            CommandSupport
            """, libraries: "ArgumentParser"),
    program(
        "badnet",
        uses: "AudioCore Waveform Session JitterBuffer CallQuality NetworkEmulator Radio LinkTest CommandSupport",
        libraries: "ArgumentParser"),
]

/// The programs of the libraries' pages by name, and the modules that they use. README.md shows the first three. They are
/// built as a user of the package would build them: without our settings.
let examples: KeyValuePairs = [
    "send-a-file": "Radio", "hear": "Radio", "play": "Player",
    "first-audio-core": "AudioCore",
    "first-effects": "AudioCore Effects",
    "first-headless-queue": "MediaSource Player",
    "first-hls-source": "HLSSource MediaSource",
    "first-http-source": "HTTPSource MediaSource",
    "first-jitter-buffer": "AudioCore G711Codec Packets JitterBuffer",
    "first-level-meter": "AudioCore Player",
    "first-media-source": "AudioCore MediaSource",
    "first-network-emulator": "AudioCore NetworkEmulator",
    "first-own-decoder": "AudioCore MediaSource Player",
    "first-own-effect": "AudioCore Effects Player",
    "first-own-source": "MediaSource Player",
    "first-packets": "Packets",
    "first-session": "AudioCore Packets Session",
    "first-time-pitch": "AudioCore TimePitch",
    "first-waveform-png": "AudioCore Player Waveform",
]

/// The modules that TestSupport uses, and all tests may.
let supportModules = """
    AudioCore System SeededRandom OpusCodec SoundCard Packets Session JitterBuffer UV NetworkEmulator ChannelKeys
    ManagedChannel RelayCore MediaSource
    """

let suites: [Target] = [
    tests("SupportTests", in: "TestSupport/Tests"),
    tests(
        "ConversationTests", in: "RTP/Conversation",
        uses: "AudioCore Packets Session JitterBuffer NetworkEmulator", isOptimized: true),
    tests("BadLinkProxyTests", in: "Tools/badlink", uses: "AudioCore Session UV NetworkEmulator Radio badlink"),
    tests("ToolTests", in: "Tools/Programs", uses: "badlink replay radiocheck badnet tenfour"),
    tests(
        "ReadmeTests", in: "Readme",
        uses: "AudioCore AudioFile send-a-file hear play tenfour badlink losslab radiocheck replay ArgumentParser",
        exclude: ["Programs"]),
    tests(
        "FirstProgramTests", in: "FirstPrograms",
        uses: "AudioCore AudioFile " + examples.map(\.key).filter { $0.hasPrefix("first-") }.joined(separator: " "),
        exclude: ["Programs"]),
    tests(
        "CommandTests", in: "Command/tenfour",
        uses: """
            AudioCore System JSON Clocks SoundCard VoiceProcessing Waveform Packets OggOpus Session JitterBuffer
            CallQuality UV DNSSD NetworkEmulator Floor ChannelKeys Pairing ManagedChannel ChannelMember RelayCore
            RelayServer MediaSource Player Transmissions PushToTalk Radio Call Lobby CommandSupport AudioFile tenfour
            """),
    tests("InteropTests", in: "Interop", uses: "tenfour"),
]

/// The targets that several tests share.
let support: [Target] = [
    // For tests of what happens to a process as a whole.
    program("longturn", in: "Tests/TestSupport/Programs/longturn", uses: "SoundCard"),
    .target(name: "CAllocations", path: "Tests/TestSupport/CAllocations"),
    .target(name: "CFileSyncs", path: "Tests/TestSupport/CFileSyncs"),
    .target(name: "CMACs", path: "Tests/TestSupport/CMACs"),
    .target(
        name: "TestSupport",
        dependencies: dependencies(supportModules), path: "Tests/TestSupport/TestSupport", swiftSettings: settings),
    .target(
        name: "FuzzTargets",
        dependencies: dependencies(
            """
            AudioCore System SeededRandom JSON Effects Packets OggOpus Session JitterBuffer UV HTTPServer PacketCapture
            NetworkEmulator Floor ChannelKeys Pairing ManagedChannel ChannelMember RelayCore RelayCluster RelayServer
            MediaSource HTTPSource HLSSource Transmissions PushToTalk Call Lobby Diagnosis Web CommandSupport TestSupport
            """), path: "Tests/TestSupport/FuzzTargets", swiftSettings: settings),
]

let package = Package(
    name: "tenfour",
    products: [
        .executable(name: "tenfour", targets: ["tenfour"]),
        .executable(name: "badlink", targets: ["badlink"]),
        .library(name: "TenfourRadio", targets: ["TenfourRadio"]),
        .library(name: "TenfourSession", targets: ["TenfourSession"]),
        .library(name: "TenfourJitterBuffer", targets: ["TenfourJitterBuffer", "TenfourG711Codec"]),
        .library(name: "TenfourPackets", targets: ["TenfourPackets"]),
        .library(name: "TenfourAudioCore", targets: ["TenfourAudioCore"]),
        .library(name: "TenfourNetworkEmulator", targets: ["TenfourNetworkEmulator"]),
        .library(
            name: "TenfourPlayer",
            targets: ["TenfourPlayer", "TenfourMediaSource", "TenfourEffects", "TenfourWaveform"]),
        .library(name: "TenfourMediaSource", targets: ["TenfourMediaSource"]),
        .library(name: "TenfourHTTPSource", targets: ["TenfourHTTPSource"]),
        .library(name: "TenfourHLSSource", targets: ["TenfourHLSSource"]),
        .library(name: "TenfourEffects", targets: ["TenfourEffects"]),
        .library(name: "TenfourTimePitch", targets: ["TenfourTimePitch"]),
        .library(name: "TenfourWaveform", targets: ["TenfourWaveform"]),
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
        clib("COgg", pkgConfig: "ogg", debian: "libogg-dev"),
        clib("CALSA", pkgConfig: "alsa", debian: "libasound2-dev"),
        clib("CUV", pkgConfig: "libuv", debian: "libuv1-dev"),
        clib("CSpeexDSP", pkgConfig: "speexdsp", debian: "libspeexdsp-dev"),
        clib("CSodium", pkgConfig: "libsodium", debian: "libsodium-dev"),
        clib("CSRTP", pkgConfig: "libsrtp2", debian: "libsrtp2-dev"),
        clib("CQRencode", pkgConfig: "libqrencode", debian: "libqrencode-dev"),
    ]
        + [
            "CSndFile", "CCurl", "CCairo", "CAV", "CSDBus", "CMicroHTTPD", "CShout", "CNATS", "CEvdev", "CGPIOD",
            "CLinux",
        ]
        .map { clib($0) }
        + modules.map(\.library) + modules.map(\.suite) + programs + examples.map { example($0, uses: $1) } + support
        + suites,
    swiftLanguageModes: [.v6]
)

// Tools/test builds only these tests, and what they need, for some of its parts.
if let suites = Context.environment["TENFOUR_SUITES"] {
    keepOnly(Set(suites.split(separator: " ").map(String.init)))
}

// The fuzzer's main is libFuzzer's: an ordinary build could not link it.
if Context.environment["TENFOUR_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzTargets"],
            path: "Tools/Programs/fuzz",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}

/// A library in a folder of Sources, whose name is the folder's with `Tenfour` before it, and its tests in the same folder
/// of Tests. Texts name modules, C libraries and other targets, separated by spaces.
struct Module {
    let folder: String
    /// The modules that it may import.
    let uses: String
    let libraries: String
    /// The targets that its tests need, beside those of the module, and TestSupport with what that uses.
    let testsUse: String
    let embeds: [String]
    let optimizesTests: Bool

    init(
        _ folder: String, uses: String = "", libraries: String = "", testsUse: String = "", embeds: [String] = [],
        optimizesTests: Bool = false
    ) {
        (self.folder, self.uses, self.libraries, self.testsUse) = (folder, uses, libraries, testsUse)
        (self.embeds, self.optimizesTests) = (embeds, optimizesTests)
    }

    var name: String { String(folder.split(separator: "/").last!) }

    var library: Target {
        .target(
            name: "Tenfour" + name, dependencies: dependencies(uses + " " + libraries), path: "Sources/" + folder,
            resources: embeds.map { .embedInCode($0) }, swiftSettings: settings)
    }

    var suite: Target {
        tests(name + "Tests", in: folder, uses: "\(name) \(uses) \(testsUse)", isOptimized: optimizesTests)
    }
}

/// Modules of ours by the last component of their folders, and other targets; each once.
func dependencies(_ names: String) -> [Target.Dependency] {
    var known: Set<Substring> = []
    return names.split(whereSeparator: \.isWhitespace).filter { known.insert($0).inserted }.map(String.init).map {
        name in
        switch name {
        case "ArgumentParser": .product(name: name, package: "swift-argument-parser")
        case "CAV": .target(name: name, condition: .when(traits: ["FFmpeg"]))
        default: .target(name: modules.contains { $0.name == name } ? "Tenfour" + name : name)
        }
    }
}

/// A C library: a module map and a shim, nothing else. One without `pkgConfig` is opened by the first call that needs it
/// (Sources/C/COnDemand) and never linked; CLinux has headers that Swift's Glibc leaves out.
func clib(_ name: String, pkgConfig: String? = nil, debian: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/" + name, pkgConfig: pkgConfig, providers: debian.map { [.apt([$0])] })
}

func program(_ name: String, in folder: String? = nil, uses: String, libraries: String = "") -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(uses + " " + libraries), path: folder ?? "Tools/Programs/" + name,
        swiftSettings: settings)
}

/// Tests in a folder of Tests, all of which may use TestSupport and its modules. In a release build the compiler optimizes only
/// the tests that compute much: for the others it would take longer than the tests then save. Without
/// -no-emit-module-separately-wmo it would read the files of an unoptimized module twice.
func tests(
    _ name: String, in folder: String, uses: String = "", exclude: [String] = [], isOptimized: Bool = false
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies("\(uses) \(supportModules) TestSupport"), path: "Tests/" + folder,
        exclude: exclude,
        swiftSettings: settings
            + (isOptimized ? [] : [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]))
}

/// A program of a page. Its folder has its name without `first-`.
func example(_ name: String, uses: String) -> Target {
    let folders = [
        "send-a-file": "Readme/Programs/send", "hear": "Readme/Programs/hear", "play": "Readme/Programs/play",
    ]
    return .executableTarget(
        name: name, dependencies: dependencies(uses),
        path: "Tests/" + (folders[name] ?? "FirstPrograms/Programs/" + name.dropFirst("first-".count)))
}

/// Removes all targets but `needed` and those that they depend on, and the products of the others.
@MainActor func keepOnly(_ needed: Set<String>) {
    var needed = needed
    var more = package.targets.filter { needed.contains($0.name) }
    while let target = more.popLast() {
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _):
                if needed.insert(name).inserted { more += package.targets.filter { $0.name == name } }
            default: break
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
