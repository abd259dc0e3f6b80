import ArgumentParser
import TenfourChannelKeys
import TenfourRadio

/// The options for the SRTP key of an address that begins with `srtp://`.
struct SRTPOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The SRTP key for both directions: master key and salt in base64, as in ffmpeg's -srtp_out_params.",
            valueName: "base64"))
    var srtpKey: String?

    @Option(
        help: ArgumentHelp(
            "Read the SRTP key from the first line of this file; it must be readable only by you (mode 0600). Alternatively, set TENFOUR_SRTP_KEY to the key.",
            valueName: "file"), completion: .file())
    var srtpKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "The SRTP crypto suite: \(SRTPSuite.allCases.map(\.name).joined(separator: " or ")). Default: the first.",
            valueName: "suite"), completion: .list(SRTPSuite.allCases.map(\.name)))
    var srtpSuite: SRTPSuiteName?

    private var suite: SRTPSuite { srtpSuite?.suite ?? .aesCounterMode }

    /// Returns the stream of `address`, and its key if the address is srtp://. Throws `.usage` for a channel's link.
    func stream(at address: RadioAddress?, quiet: Bool) throws(RadioError) -> (StreamAddress, SRTPMasterKey?) {
        switch address {
        case .rtp(let stream):
            try checkUnused()
            return (stream, nil)
        case .srtp(let stream): return (stream, try key(quiet: quiet))
        case .channel: throw RadioError(.usage, "recv cannot receive a channel: write tenfour listen LINK")
        case .none: throw RadioError(.usage, "the address is missing: write rtp://HOST:PORT")
        }
    }

    /// Returns the key for srtp:// from the options or the environment. Throws `.usage` if no key is given.
    private func key(quiet: Bool) throws(RadioError) -> SRTPMasterKey {
        guard srtpKey == nil || srtpKeyFile == nil else {
            throw RadioError(.usage, "--srtp-key and --srtp-key-file are both given: write only one of them")
        }
        let text: String
        if let srtpKey {
            text = Secrets.revealed(srtpKey) ?? srtpKey
            if !quiet { Terminal.log(Self.warning) }
        } else if let srtpKeyFile {
            text = try SecretFile.read(srtpKeyFile, for: "a key")
        } else if let variable = Secrets.variable(Secrets.key) {
            text = variable
        } else {
            throw RadioError(
                .usage,
                "srtp:// needs a key that both ends know: write --srtp-key-file FILE. "
                    + "To make a key, run head -c \(suite.masterByteCount) /dev/urandom | base64")
        }
        guard let key = SRTPMasterKey(suite, base64: text) else {
            let fitting = SRTPSuite.allCases.first { SRTPMasterKey($0, base64: text) != nil }
            throw RadioError(
                .usage,
                "the SRTP key must be \(suite.masterByteCount) bytes in base64 for \(suite.name)"
                    + (fitting.map { "; this key fits --srtp-suite \($0.name)" } ?? "; check the key"))
        }
        return key
    }

    /// Throws `.usage` if a key was typed. Called for an address without srtp://.
    func checkUnused() throws(RadioError) {
        guard srtpKey == nil, srtpKeyFile == nil else {
            throw RadioError(
                .usage,
                "an SRTP key is only for an address that begins with srtp://: write srtp://, or leave the key out")
        }
    }

    private static let warning = """
        tenfour: other users of this machine can see a key among the arguments for a moment, and your shell remembers it: \
        use --srtp-key-file or TENFOUR_SRTP_KEY instead
        """
}

/// An SRTP suite by its name in SDP.
struct SRTPSuiteName: ExpressibleByArgument {
    let suite: SRTPSuite

    init?(argument: String) {
        guard let suite = SRTPSuite(name: argument) else { return nil }
        self.suite = suite
    }
}
