import ArgumentParser
import Console

/// `tenfour relay`: passes channels on to their members, and tells how it goes.
struct RelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Relay channels to their members.",
        subcommands: [RelayRun.self, RelayStatusCommand.self], defaultSubcommand: RelayRun.self)
}
