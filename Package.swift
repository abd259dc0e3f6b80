// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]

/// The last component of a folder's path.
func lastComponent(_ folder: String) -> String { String(folder.split(separator: "/").last!) }

/// Modules of ours by the last component of their folders, and other targets and products.
func dependencies(_ modules: [String], others: [Target.Dependency] = []) -> [Target.Dependency] {
    modules.map { .target(name: "Tenfour" + $0) } + others
}

/// A library in a folder of Sources. Its name is the folder's with `Tenfour` before it. It may import only what is listed.
func module(
    _ folder: String, uses modules: [String] = [], others: [Target.Dependency] = [], embedding files: [String] = []
) -> Target {
    .target(
        name: "Tenfour" + lastComponent(folder), dependencies: dependencies(modules, others: others),
        path: "Sources/" + folder, resources: files.map { .embedInCode($0) }, swiftSettings: settings)
}

/// A C library: a module map and a shim, nothing else. One without `pkgConfig` is opened by the first call that needs it
/// (Sources/C/COnDemand) and never linked.
func clib(_ name: String, pkgConfig: String? = nil, debian: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/" + name, pkgConfig: pkgConfig, providers: debian.map { [.apt([$0])] })
}

/// One of the programs behind the tools.
func program(_ name: String, uses modules: [String], others: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(modules, others: others), path: "Tools/Programs/" + name,
        swiftSettings: settings)
}

/// The first program of a library's page, as a user of the package would build it: without our settings.
func firstProgram(_ name: String, uses modules: [String], others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: "first-" + name, dependencies: dependencies(modules, others: others),
        path: "Tests/FirstPrograms/Programs/" + name)
}

/// Tests in a folder of Tests, all of which may use Tests/TestSupport. In a release build the compiler optimizes only
/// the tests that compute much: for the others it would take longer than the tests then save. Without
/// -no-emit-module-separately-wmo it would read the files of an unoptimized module twice.
func tests(
    _ name: String, in folder: String, uses modules: [String] = [], others: [Target.Dependency] = [],
    exclude: [String] = [], isOptimized: Bool = false
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies(modules, others: others + ["TestSupport"]), path: "Tests/" + folder,
        exclude: exclude,
        swiftSettings: settings
            + (isOptimized ? [] : [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]))
}

/// The tests of the module whose folder in Sources has the same path.
func tests(
    _ folder: String, uses modules: [String], others: [Target.Dependency] = [], isOptimized: Bool = false
) -> Target {
    tests(lastComponent(folder) + "Tests", in: folder, uses: modules, others: others, isOptimized: isOptimized)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let ffmpeg = Target.Dependency.target(name: "CAV", condition: .when(traits: ["FFmpeg"]))

let package = Package(
    name: "tenfour",
    products: [
        .executable(name: "tenfour", targets: ["tenfour"]),
        .executable(name: "badlink", targets: ["badlink"]),
        .library(name: "TenfourRadio", targets: ["TenfourRadio"]),
        .library(name: "TenfourSession", targets: ["TenfourSession"]),
        .library(
            name: "TenfourJitterBuffer", targets: ["TenfourJitterBuffer", "TenfourG711Codec"]),
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
        clib("CSndFile"),
        clib("CCurl"),
        clib("CCairo"),
        clib("CAV"),
        clib("CSDBus"),
        clib("CMicroHTTPD"),
        clib("CShout"),
        clib("CNATS"),
        clib("CEvdev"),
        clib("CGPIOD"),

        // Headers of the system that Glibc's module does not hold, and helpers of ours.
        clib("CLinux"),

        module("Support/System", others: ["CLinux"]),
        module("Support/DBus", others: ["CSDBus"]),
        module("Support/Pacing", uses: ["AudioCore"]),
        module("Support/Clocks", uses: ["AudioCore"]),
        module("Support/SeededRandom"),
        module("Support/JSON"),
        module("Support/QRCode", others: ["CQRencode"]),

        module("Audio/AudioCore"),
        module("Audio/OpusCodec", uses: ["AudioCore"], others: ["COpus"]),
        module("Audio/Resampling", uses: ["AudioCore"], others: ["CSpeexDSP"]),
        module("Audio/G711Codec", uses: ["AudioCore", "Resampling"]),
        module("Audio/TimePitch", uses: ["AudioCore"]),
        module("Audio/Effects", uses: ["AudioCore"]),
        module("Audio/AudioFile", uses: ["System", "AudioCore"], others: ["CSndFile"]),
        module(
            "Audio/SoundCard", uses: ["System", "DBus", "Pacing", "Clocks", "AudioCore"], others: ["CALSA", "CLinux"]),
        module("Audio/VoiceProcessing", uses: ["System", "AudioCore"], others: ["CSpeexDSP"]),
        module("Audio/Waveform", uses: ["AudioCore"], others: ["CCairo"]),

        module("RTP/Packets", uses: ["AudioCore"]),
        module("RTP/OggOpus", uses: ["AudioCore", "Packets"], others: ["COgg"]),
        module("RTP/Session", uses: ["SeededRandom", "Pacing", "AudioCore", "Packets"]),
        module("RTP/JitterBuffer", uses: ["AudioCore", "Resampling", "Packets"]),
        module("RTP/CallQuality", uses: ["JSON", "AudioCore", "Packets", "JitterBuffer"]),

        module("Channel/Floor", uses: ["Pacing", "AudioCore", "Packets"]),
        module("Channel/Pairing", uses: ["Pacing", "AudioCore", "Session", "ChannelKeys"], others: ["CSodium"]),
        module(
            "Channel/ChannelKeys", uses: ["System", "AudioCore", "Packets", "Session", "Floor"],
            others: ["CSodium", "CSRTP"]),
        module(
            "Channel/ManagedChannel", uses: ["Pacing", "AudioCore", "Packets", "ChannelKeys"], others: ["CSodium"]),
        module(
            "Channel/ChannelMember",
            uses: ["Pacing", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "ManagedChannel"]),

        module(
            "Relay/RelayCore",
            uses: ["Pacing", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "ManagedChannel", "Pairing"]),
        module(
            "Relay/RelayCluster",
            uses: ["Pacing", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "RelayCore"]),
        module(
            "Relay/RelayServer",
            uses: [
                "System", "Pacing", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "ManagedChannel",
                "RelayCore", "RelayCluster", "UV", "NATS",
            ]),

        module("Network/UV", uses: ["System", "AudioCore", "Session"], others: ["CUV", "CLinux"]),
        module(
            "Network/HTTPServer", uses: ["AudioCore", "Session", "UV"], others: ["CMicroHTTPD"]),
        module("Network/NATS", uses: ["System", "Pacing", "Clocks", "AudioCore"], others: ["CNATS"]),
        module("Network/DNSSD", uses: ["System", "DBus", "Pacing", "Clocks", "AudioCore", "Session"]),
        module("Network/PacketCapture", uses: ["AudioCore", "Session"]),
        module("Network/NetworkEmulator", uses: ["SeededRandom", "AudioCore"]),

        module(
            "Player/MediaSource", uses: ["System", "AudioCore", "AudioFile", "OpusCodec", "Resampling"],
            others: ["COgg", ffmpeg]),
        module(
            "Player/HTTPSource", uses: ["System", "Pacing", "AudioCore", "UV", "MediaSource"],
            others: ["CCurl"]),
        module("Player/HLSSource", uses: ["System", "Pacing", "AudioCore", "MediaSource"]),
        module(
            "Player/Player",
            uses: [
                "SeededRandom", "System", "Clocks", "AudioCore", "OpusCodec", "TimePitch", "Effects", "AudioFile",
                "SoundCard", "OggOpus", "Waveform", "MediaSource", "HTTPSource", "HLSSource",
            ]),

        module("Player/Desktop", uses: ["System", "DBus", "Pacing", "Clocks", "AudioCore", "MediaSource", "Player"]),

        module(
            "Radio/Radio",
            uses: [
                "System", "AudioCore", "OpusCodec", "G711Codec", "Resampling", "TimePitch", "Effects", "AudioFile",
                "SoundCard", "VoiceProcessing", "Packets", "Session", "JitterBuffer", "Floor", "ChannelKeys",
                "ManagedChannel", "ChannelMember", "RelayCore", "UV", "Transmissions", "MediaSource",
            ]),
        module(
            "Radio/PushToTalk", uses: ["JSON", "System", "Pacing", "Clocks", "AudioCore", "UV"],
            others: ["CEvdev", "CGPIOD", "CLinux"]),
        module(
            "Radio/Transmissions",
            uses: ["System", "Pacing", "Clocks", "AudioCore", "Packets", "OggOpus", "UV"], others: ["CLinux"]),
        module(
            "Radio/LinkTest",
            uses: [
                "JSON", "SeededRandom", "AudioCore", "OpusCodec", "Packets", "Session", "JitterBuffer", "CallQuality",
                "ChannelKeys", "NetworkEmulator", "Radio",
            ]),
        module("Radio/Call", uses: ["AudioCore", "Session", "ChannelKeys"]),
        module(
            "Radio/Lobby",
            uses: [
                "System", "AudioCore", "Packets", "Session", "ChannelKeys", "Pairing", "UV", "DNSSD", "Radio", "Clocks",
                "Call",
            ]),
        module(
            "Radio/Diagnosis",
            uses: [
                "JSON", "System", "Clocks", "AudioCore", "SoundCard", "Packets", "Session", "ChannelKeys", "UV",
                "DNSSD", "Radio", "Call", "LinkTest",
            ], others: ["CLinux"]),

        module(
            "Web/Web",
            uses: [
                "JSON", "QRCode", "System", "Pacing", "Clocks", "AudioCore", "Packets", "OggOpus", "Session",
                "ChannelKeys", "ChannelMember", "RelayCore", "RelayServer", "UV", "HTTPServer",
            ], others: ["CShout"], embedding: ["page.html"]),
        module(
            "Web/Metrics",
            uses: [
                "System", "Clocks", "AudioCore", "Packets", "Session", "JitterBuffer", "ChannelKeys", "ChannelMember",
                "Floor", "RelayCore", "RelayCluster", "RelayServer", "UV", "NATS", "HTTPServer", "Web", "Radio",
            ]),

        module(
            "Command/CommandSupport",
            uses: ["AudioCore", "AudioFile", "Packets", "Session", "UV", "NetworkEmulator", "Radio"],
            others: [argumentParser]),

        .executableTarget(
            name: "tenfour",
            dependencies: dependencies(
                [
                    "JSON", "QRCode", "Pacing", "Clocks", "System", "DBus", "AudioCore", "Effects", "AudioFile",
                    "SoundCard", "Waveform", "Packets", "Session", "JitterBuffer", "CallQuality", "Floor",
                    "ChannelKeys", "ManagedChannel", "ChannelMember", "RelayCore", "RelayCluster", "NATS", "HTTPServer",
                    "RelayServer", "UV", "MediaSource", "Player", "Desktop", "PushToTalk", "Call", "Lobby", "DNSSD",
                    "Pairing", "VoiceProcessing", "Radio", "Transmissions", "Web", "Metrics", "Diagnosis",
                    "CommandSupport",
                ], others: ["CLinux", argumentParser]), path: "Sources/Command/tenfour", swiftSettings: settings
        ),

        program(
            "badlink",
            uses: ["JSON", "AudioCore", "Session", "CallQuality", "UV", "NetworkEmulator", "Radio", "CommandSupport"],
            others: ["CLinux", argumentParser]),
        program(
            "losslab",
            uses: [
                "AudioCore", "OpusCodec", "Resampling", "TimePitch", "AudioFile", "Packets", "Session", "JitterBuffer",
                "NetworkEmulator", "Radio",
            ], others: [argumentParser]),
        program("voicelab", uses: ["System", "AudioCore", "VoiceProcessing"], others: [argumentParser]),
        program(
            "relayload", uses: ["AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "RelayCore", "UV"],
            others: [argumentParser]),
        program(
            "replay",
            uses: [
                "JSON", "AudioCore", "TimePitch", "AudioFile", "Packets", "Session", "JitterBuffer", "CallQuality",
                "PacketCapture", "Radio", "LinkTest", "CommandSupport",
            ], others: [argumentParser]),
        program(
            "radiocheck",
            uses: [
                "JSON",
                "AudioCore", "AudioFile", "Packets", "Session", "CallQuality", "ChannelKeys", "UV", "NetworkEmulator",
                "Radio", "LinkTest", "CommandSupport",
            ], others: [argumentParser]),
        program(
            "badnet",
            uses: [
                "AudioCore", "AudioFile", "Waveform", "Session", "JitterBuffer", "CallQuality", "NetworkEmulator",
                "Radio", "LinkTest", "CommandSupport",
            ], others: [argumentParser]),

        // The programs that README.md shows, as a user of the package would build them: without our settings.
        .executableTarget(name: "send-a-file", dependencies: ["TenfourRadio"], path: "Tests/Readme/Programs/send"),
        .executableTarget(name: "hear", dependencies: ["TenfourRadio"], path: "Tests/Readme/Programs/hear"),
        .executableTarget(name: "play", dependencies: ["TenfourPlayer"], path: "Tests/Readme/Programs/play"),

        firstProgram("audio-core", uses: ["AudioCore"]),
        firstProgram("effects", uses: ["AudioCore", "Effects"]),
        firstProgram("headless-queue", uses: ["MediaSource", "Player"]),
        firstProgram("hls-source", uses: ["HLSSource", "MediaSource"]),
        firstProgram("http-source", uses: ["HTTPSource", "MediaSource"]),
        firstProgram("jitter-buffer", uses: ["AudioCore", "G711Codec", "Packets", "JitterBuffer"]),
        firstProgram("level-meter", uses: ["AudioCore", "Player"]),
        firstProgram("media-source", uses: ["AudioCore", "MediaSource"]),
        firstProgram("network-emulator", uses: ["AudioCore", "NetworkEmulator"]),
        firstProgram("own-decoder", uses: ["AudioCore", "MediaSource", "Player"]),
        firstProgram("own-effect", uses: ["AudioCore", "Effects", "Player"]),
        firstProgram("own-source", uses: ["MediaSource", "Player"]),
        firstProgram("packets", uses: ["Packets"]),
        firstProgram("session", uses: ["AudioCore", "Packets", "Session"]),
        firstProgram("time-pitch", uses: ["AudioCore", "TimePitch"]),
        firstProgram("waveform-png", uses: ["AudioCore", "Player", "Waveform"]),

        // For tests of what happens to a process as a whole.
        .executableTarget(
            name: "longturn", dependencies: ["TenfourSoundCard"], path: "Tests/TestSupport/Programs/longturn",
            swiftSettings: settings),

        .target(name: "CAllocations", path: "Tests/TestSupport/CAllocations"),
        .target(name: "CFileSyncs", path: "Tests/TestSupport/CFileSyncs"),
        .target(name: "CMACs", path: "Tests/TestSupport/CMACs"),
        .target(
            name: "TestSupport",
            dependencies: dependencies([
                "SeededRandom", "System", "AudioCore", "OpusCodec", "SoundCard", "Packets", "Session", "JitterBuffer",
                "ChannelKeys", "ManagedChannel", "RelayCore", "UV", "NetworkEmulator", "MediaSource",
            ]), path: "Tests/TestSupport/TestSupport", swiftSettings: settings),
        .target(
            name: "FuzzTargets",
            dependencies: dependencies(
                [
                    "JSON", "SeededRandom", "System", "AudioCore", "Effects", "Packets", "OggOpus", "Session",
                    "JitterBuffer", "Floor", "Pairing", "ChannelKeys", "ManagedChannel", "ChannelMember", "RelayCore",
                    "RelayCluster", "RelayServer", "UV", "HTTPServer", "PacketCapture", "NetworkEmulator",
                    "MediaSource", "HTTPSource", "HLSSource", "PushToTalk", "Transmissions", "Call", "Lobby",
                    "Diagnosis", "Web", "CommandSupport",
                ], others: ["TestSupport"]), path: "Tests/TestSupport/FuzzTargets",
            swiftSettings: settings),
        tests("Support/System", uses: ["System"]),
        tests("Support/DBus", uses: ["DBus"]),
        tests("Support/SeededRandom", uses: ["SeededRandom"]),
        tests("Support/JSON", uses: ["JSON"]),
        tests("Support/QRCode", uses: ["QRCode"]),
        tests("Support/Pacing", uses: ["AudioCore", "Pacing"]),
        tests("Support/Clocks", uses: ["AudioCore", "Clocks"]),
        tests(
            "Audio/OpusCodec", uses: ["SeededRandom", "AudioCore", "OpusCodec", "NetworkEmulator"], isOptimized: true),
        tests("Audio/G711Codec", uses: ["AudioCore", "G711Codec"], isOptimized: true),
        tests("Audio/Resampling", uses: ["AudioCore", "Resampling"], isOptimized: true),
        tests("Audio/TimePitch", uses: ["AudioCore", "TimePitch"], isOptimized: true),
        tests(
            "Audio/Effects", uses: ["SeededRandom", "AudioCore", "TimePitch", "Effects"], others: ["CAllocations"],
            isOptimized: true),
        tests("Audio/AudioCore", uses: ["SeededRandom", "AudioCore"], isOptimized: true),
        tests(
            "Audio/AudioFile", uses: ["SeededRandom", "AudioCore", "AudioFile", "NetworkEmulator"],
            others: ["CFileSyncs"], isOptimized: true),
        tests("Audio/SoundCard", uses: ["DBus", "AudioCore", "SoundCard"], others: ["longturn"]),
        tests(
            "Audio/VoiceProcessing", uses: ["SeededRandom", "System", "AudioCore", "VoiceProcessing"],
            others: ["CAllocations"], isOptimized: true),
        tests("Audio/Waveform", uses: ["AudioCore", "Waveform"], isOptimized: true),
        tests(
            "RTP/Packets", uses: ["SeededRandom", "AudioCore", "Packets", "NetworkEmulator"], others: ["FuzzTargets"],
            isOptimized: true),
        tests("RTP/OggOpus", uses: ["SeededRandom", "AudioCore", "OpusCodec", "Packets", "OggOpus"]),
        tests("RTP/Session", uses: ["SeededRandom", "AudioCore", "Packets", "Session", "NetworkEmulator"]),
        tests("RTP/JitterBuffer", uses: ["SeededRandom", "AudioCore", "Packets", "JitterBuffer"], isOptimized: true),
        tests("RTP/CallQuality", uses: ["AudioCore", "Packets", "JitterBuffer", "CallQuality"]),
        tests(
            "Channel/ChannelKeys",
            uses: ["SeededRandom", "AudioCore", "Packets", "Floor", "ChannelKeys", "NetworkEmulator"]),
        tests("Channel/Floor", uses: ["SeededRandom", "AudioCore", "Packets", "Session", "Floor", "NetworkEmulator"]),
        tests(
            "Channel/ChannelMember",
            uses: [
                "SeededRandom",
                "AudioCore", "Packets", "Session", "JitterBuffer", "Floor", "ChannelKeys", "ManagedChannel",
                "ChannelMember", "RelayCore", "NetworkEmulator", "Radio",
            ]),
        tests(
            "Channel/ManagedChannel", uses: ["SeededRandom", "AudioCore", "Packets", "ChannelKeys", "ManagedChannel"]),
        tests("Channel/Pairing", uses: ["SeededRandom", "AudioCore", "Session", "ChannelKeys", "Pairing"]),
        tests(
            "Relay/RelayCore",
            uses: [
                "SeededRandom", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "ManagedChannel", "Pairing",
                "RelayCore",
                "NetworkEmulator",
            ],
            others: ["CAllocations", "CMACs"], isOptimized: true),
        tests(
            "Relay/RelayCluster",
            uses: [
                "SeededRandom", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "RelayCore", "RelayCluster",
                "NetworkEmulator",
            ]),
        tests(
            "Relay/RelayServer",
            uses: [
                "SeededRandom", "System", "AudioCore", "Packets", "Session", "Floor", "ChannelKeys", "ManagedChannel",
                "ChannelMember", "RelayCore", "RelayCluster", "NATS", "RelayServer", "UV", "NetworkEmulator",
            ], others: ["CAllocations", "tenfour"]),
        tests("Network/UV", uses: ["AudioCore", "Session", "UV"]),
        tests("Network/HTTPServer", uses: ["SeededRandom", "System", "AudioCore", "Session", "UV", "HTTPServer"]),
        tests("Network/NATS", uses: ["NATS"]),
        tests("Network/DNSSD", uses: ["System", "DBus", "AudioCore", "Session", "DNSSD"]),
        tests("Network/PacketCapture", uses: ["AudioCore", "Session", "PacketCapture"]),
        tests("Network/NetworkEmulator", uses: ["SeededRandom", "AudioCore", "NetworkEmulator"]),
        tests(
            "Player/MediaSource", uses: ["SeededRandom", "System", "AudioCore", "NetworkEmulator", "MediaSource"],
            isOptimized: true),
        tests("Player/HTTPSource", uses: ["AudioCore", "UV", "MediaSource", "HTTPSource"]),
        tests("Player/HLSSource", uses: ["System", "AudioCore", "MediaSource", "HLSSource"]),
        tests(
            "Player/Player",
            uses: [
                "SeededRandom", "System", "Clocks", "AudioCore", "Effects", "AudioFile", "SoundCard", "Waveform",
                "MediaSource", "Player",
            ]),
        tests("Player/Desktop", uses: ["System", "DBus", "AudioCore", "MediaSource", "Player", "Desktop"]),
        tests(
            "Radio/Radio",
            uses: [
                "SeededRandom", "System", "AudioCore", "OpusCodec", "G711Codec", "TimePitch", "AudioFile", "SoundCard",
                "VoiceProcessing", "Packets", "Session", "JitterBuffer", "Floor", "ChannelKeys", "ManagedChannel",
                "ChannelMember", "RelayCore", "UV", "NetworkEmulator", "Transmissions", "PushToTalk", "Radio",
            ], others: ["CAllocations", "CFileSyncs"]),
        tests("Radio/PushToTalk", uses: ["JSON", "SeededRandom", "System", "Clocks", "AudioCore", "PushToTalk"]),
        tests(
            "Radio/Transmissions",
            uses: ["SeededRandom", "Clocks", "AudioCore", "OpusCodec", "Packets", "OggOpus", "Transmissions"],
            others: ["CAllocations", "CFileSyncs"], isOptimized: true),
        tests(
            "Radio/LinkTest",
            uses: [
                "JSON", "SeededRandom", "AudioCore", "Packets", "Session", "JitterBuffer", "CallQuality",
                "NetworkEmulator", "Radio", "LinkTest",
            ], isOptimized: true),
        tests("Radio/Call", uses: ["SeededRandom", "AudioCore", "Session", "ChannelKeys", "Call"]),
        tests(
            "Radio/Lobby",
            uses: [
                "SeededRandom", "AudioCore", "Packets", "Session", "ChannelKeys", "Pairing", "DNSSD", "Radio", "Call",
                "Lobby", "RelayCore",
            ]),
        tests(
            "Radio/Diagnosis",
            uses: [
                "JSON", "SeededRandom", "AudioCore", "SoundCard", "Packets", "Session", "ChannelKeys", "RelayCore",
                "UV", "DNSSD", "Call", "Diagnosis",
            ]),
        tests("Web/Web", uses: ["SeededRandom", "AudioCore", "OpusCodec", "Packets", "Session", "Web", "HTTPServer"]),
        tests(
            "Web/Metrics",
            uses: [
                "AudioCore", "SoundCard", "Packets", "ChannelKeys", "ChannelMember", "Session", "JitterBuffer", "Floor",
                "RelayCore", "RelayCluster", "RelayServer", "UV", "NATS", "Radio", "Web", "Metrics",
            ]),
        tests("SupportTests", in: "TestSupport/Tests"),
        tests(
            "ConversationTests", in: "RTP/Conversation",
            uses: ["AudioCore", "Packets", "Session", "JitterBuffer", "NetworkEmulator"], isOptimized: true),
        tests(
            "BadLinkProxyTests", in: "Tools/badlink", uses: ["AudioCore", "Session", "UV", "NetworkEmulator", "Radio"],
            others: ["badlink"]),
        tests(
            "ReadmeTests", in: "Readme", uses: ["AudioCore", "AudioFile"],
            others: [
                "send-a-file", "hear", "play", "tenfour", "badlink", "losslab", "radiocheck", "replay", argumentParser,
            ], exclude: ["Programs"]),
        tests(
            "FirstProgramTests", in: "FirstPrograms", uses: ["AudioCore", "AudioFile"],
            others: [
                "first-audio-core", "first-effects", "first-headless-queue", "first-hls-source",
                "first-http-source", "first-jitter-buffer", "first-level-meter", "first-media-source",
                "first-network-emulator", "first-own-decoder", "first-own-effect", "first-own-source", "first-packets",
                "first-session", "first-time-pitch", "first-waveform-png",
            ], exclude: ["Programs"]),
        tests("ToolTests", in: "Tools/Programs", others: ["badlink", "replay", "radiocheck", "badnet", "tenfour"]),
        tests(
            "Command/CommandSupport", uses: ["SeededRandom", "AudioCore", "CommandSupport"], others: ["FuzzTargets"]),
        tests(
            "CommandTests", in: "Command/tenfour",
            uses: [
                "JSON", "SeededRandom", "Clocks", "System", "AudioCore", "Packets", "OggOpus", "Session", "CallQuality",
                "Floor", "ChannelKeys", "ManagedChannel", "ChannelMember", "DNSSD", "NetworkEmulator", "PushToTalk",
                "Call", "Lobby", "Radio", "Transmissions", "VoiceProcessing", "Waveform", "MediaSource", "Player",
                "RelayCore", "RelayServer", "JitterBuffer", "CommandSupport",
            ], others: ["tenfour"]),
        tests("InteropTests", in: "Interop", others: ["tenfour"]),
    ],
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
