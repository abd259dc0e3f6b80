internal import TenfourAudioFile

/// The three things people do, in a line each. What they set no other way is set by a `RadioConfiguration`.
///
/// An address is what `StreamAddress` reads: `rtp://10.0.0.7:5004`, `bob.local`. Names are looked up here, which may wait for
/// a name server. All throw `.usage` for an address that cannot be meant, and `.unavailable` for what is not to be had.
extension RadioSession {
    /// Sends the sound file at `path` (`-` is standard input) to `address` as fast as it sounds, mono, and ends with it.
    public convenience init(sending path: String, to address: String) throws(RadioError) {
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: address))
        configuration.input = .file(path, raw: path == "-" ? RawFormat() : nil)
        try self.init(configuration)
    }

    /// Receives on `address` (`rtp://:5004`) and gives what comes to `hear`, mono at 48 000 Hz, full scale at ±1: from the
    /// first packet on, some fifty times a second, on a thread of the session's own. Ends when all who were heard have left.
    public convenience init(
        receivingOn address: String, hear: @escaping @Sendable (_ samples: [Float]) -> Void
    ) throws(RadioError) {
        var configuration = try RadioConfiguration.receiving(on: StreamAddress(parsing: address))
        configuration.recording = .closure { samples, _ in hear(samples) }
        configuration.endsWithLastSource = true
        try self.init(configuration)
    }

    /// Talks with the station at `address` by the sound card `device` (an ALSA name), until it is stopped. The microphone
    /// begins closed: two open ones with loudspeakers howl.
    public convenience init(talkingWith address: String, device: String = "default") throws(RadioError) {
        let address = try StreamAddress(parsing: address)
        var configuration = try RadioConfiguration.talking(with: address, localPort: address.port)
        configuration.input = .card(device)
        configuration.output = .card(device)
        configuration.beginsOpen = false
        try self.init(configuration)
    }
}
