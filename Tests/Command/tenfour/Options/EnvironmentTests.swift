import ArgumentParser
import TestSupport
import Testing

@testable import tenfour

/// Options from environment variables.
struct EnvironmentTests {
    /// Options without a variable, by command: secrets, which have other rules, and options that concern a single
    /// run.
    private static let onlyTyped: [String: Set<String>] = [
        // A variable that is forgotten should neither take a keyboard away, nor run a program, nor let strangers in.
        "talk": [
            "link-file", "srtp-key", "srtp-key-file", "ptt-grab", "record-hook", "auto-answer", "hidden",
        ],
        // A variable that is forgotten should not lead a pairing of neighbours through a relay elsewhere.
        "pair": ["ptt-grab", "record-hook", "relay"],
        "listen": ["link-file", "record-hook"],
        "send": ["link-file", "srtp-key", "srtp-key-file", "header"],
        // In these commands `--rate` is a speed; in others it is a sample rate.
        "recv": ["srtp-key", "srtp-key-file", "rate", "pitch", "record-hook"],
        "play": ["header", "start", "seek", "type"],
        "plot": [
            "start", "seek", "duration", "normalize", "raw-channels", "header", "output", "json", "bars", "average",
            "peak", "position",
        ],
        "log": ["follow", "count"],
        "doctor": ["link-file"],
        "near": [],
        "log play": ["start", "seek"],
        "relay": ["check", "example", "show-key"],
        // Set by the variable TENFOUR_STATUS_SOCKET.
        "relay status": ["socket"],
    ]

    private static var commands: [String: any ParsableCommand.Type] {
        [
            "talk": Talk.self, "pair": PairCommand.self, "listen": Listen.self, "send": Send.self, "recv": Recv.self,
            "play": Play.self, "log": LogCommand.self, "log play": LogPlay.self, "plot": PlotCommand.self,
            "relay": RelayCommand.self,
            "relay status": RelayStatusCommand.self,
            "doctor": DoctorCommand.self, "near": NearCommand.self,
        ]
    }

    /// Every long option has a variable, or is listed above.
    @Test(arguments: commands.keys.sorted()) func eachLongOptionHasItsVariable(command: String) throws {
        let help = try #require(Self.commands[command]).helpMessage(columns: 200)
        let options = Set(
            help.split(separator: "\n").flatMap { line -> [String] in
                guard line.hasPrefix("  -") else { return [] }
                return line.drop { $0 == " " }.split(separator: "  ")[0].matches(of: /--([a-z][-a-z]*)/).map {
                    String($0.output.1)
                }
            }
        ).subtracting(["help", "help-all", "version"])
        let known = try #require(Environment.options[command])
        let typed = try #require(Self.onlyTyped[command])
        let forgotten = options.subtracting(known).subtracting(typed)
        #expect(!options.isEmpty && forgotten.isEmpty, "no variable for \(forgotten.sorted())")
        #expect(typed.isSubset(of: options) && typed.isDisjoint(with: known), "\(typed)")
    }

    @Test func aTypedNameWinsOverTheEnvironment() throws {
        let arguments = ["talk", "127.0.0.1:9", "--input", "no.wav", "-D", "null"]
        for (typed, variable) in [("--anonymous", "TENFOUR_NAME"), ("--name=Anna", "TENFOUR_ANONYMOUS")] {
            let result = try tenfour(arguments + [typed], environment: [variable: "1"])
            #expect(result.end == .code(69) && result.errors.contains("no.wav"), "\(result.errors)")
        }
        let both = try tenfour(arguments, environment: ["TENFOUR_NAME": "Anna", "TENFOUR_ANONYMOUS": "1"])
        #expect(both.end == .code(2) && both.errors.contains("TENFOUR_ANONYMOUS=1"), "\(both.errors)")
    }
}
