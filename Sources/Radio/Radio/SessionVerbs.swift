internal import TenfourAudioFile

/// The three common sessions, each created in one line. For other settings use a `RadioConfiguration`.
///
/// Addresses are parsed by `StreamAddress`: `rtp://10.0.0.7:5004`, `bob.local`. Names are looked up, which may block
/// until a name server answers. All three throw `.usage` for an invalid address, and `.unavailable` for a device, file
/// or host that is not available.
extension RadioSession {
    /// Sends the audio file at `path` (`-` is standard input) to `address` at the pace of playing, in mono. The session
    /// ends when the file ends.
    public convenience init(sending path: String, to address: String) throws(RadioError) {
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: address))
        configuration.input = .file(path, raw: path == "-" ? RawFormat() : nil)
        try self.init(configuration)
    }

    /// Receives on `address` (`rtp://:5004`) and passes the audio to `hear`, in mono at 48 000 Hz, full scale at ±1:
    /// from the first packet on, about fifty times a second, on a thread of the session. Ends when all talkers have
    /// left.
    public convenience init(
        receivingOn address: String, hear: @escaping @Sendable (_ samples: [Float]) -> Void
    ) throws(RadioError) {
        var configuration = try RadioConfiguration.receiving(on: StreamAddress(parsing: address))
        configuration.recording = .closure { samples, _ in hear(samples) }
        configuration.endsWithLastSource = true
        try self.init(configuration)
    }

    /// Talks with the peer at `address` over the sound card `device` (an ALSA name), until the session is stopped. The
    /// microphone is closed at first, because two open microphones with loudspeakers cause feedback.
    public convenience init(talkingWith address: String, device: String = "default") throws(RadioError) {
        let address = try StreamAddress(parsing: address)
        var configuration = try RadioConfiguration.talking(with: address, localPort: address.port)
        configuration.input = .card(device)
        configuration.output = .card(device)
        configuration.beginsOpen = false
        try self.init(configuration)
    }
}
