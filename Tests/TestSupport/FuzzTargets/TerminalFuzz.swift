import TenfourAudioCore
import TenfourCommandSupport
import TenfourJSON
import TenfourPushToTalk

/// Feeds a terminal's bytes to the parser of keys, ten milliseconds apart.
func feedTerminal(_ bytes: Span<UInt8>) {
    var input = TerminalInput()
    var now = Instant.start
    for index in bytes.indices {
        now = now + .milliseconds(10)
        if case .key(.character(let character), _)? = input.append(bytes[index], at: now) {
            precondition(character.unicodeScalars.count == 1)
        }
        precondition(input.nextDeadline.map { $0 > now } ?? true)
    }
    _ = input.timeElapsed(at: now + .seconds(1))
    precondition(input.nextDeadline == nil)
    // After the time of a sequence, a key is a key again.
    precondition(input.append(UInt8(ascii: "q"), at: now + .seconds(1)) == .key(.character("q"), .press))
}

/// Parses a line of the control socket. What is JSON reads the same after it was written again, and a volume is one that
/// can be set.
func feedRequestLine(_ bytes: Span<UInt8>) {
    let line = bytes.indices.map { bytes[$0] }
    guard let value = try? JSON(parsing: line) else {
        precondition(ControlRequest(parsing: line) == nil)
        return
    }
    let written = value.line
    guard let again = try? JSON(parsing: Array(written.utf8)) else { preconditionFailure("not JSON: \(written)") }
    precondition(again.line == written)
    guard let request = ControlRequest(parsing: line) else { return }
    if let request = PTTRequest(rawValue: request.command) {
        precondition(ControlRequest(parsing: Array(request.line.dropLast().utf8))?.command == request.rawValue)
    }
    do throws(ControlCommand.Refusal) {
        guard case .volume(let decibels?, let talker)? = try ControlCommand(request) else { return }
        let range = talker == nil ? ControlCommand.volumes : ControlCommand.talkerVolumes
        precondition(range.contains(decibels))
    } catch {
        precondition(error.json.line.hasPrefix(#"{ "error": "#))
    }
}
