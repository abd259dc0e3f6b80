import Testing

/// A self-signed certificate and its key, in PEM files.
public struct Certificate {
    /// The path of the certificate.
    public let file: String
    /// The path of its key.
    public let key: String

    /// Makes a certificate in `folder`. `names` are its alternative names, as openssl writes them.
    public init(_ name: String = "server", for names: String = "DNS:localhost,IP:127.0.0.1", in folder: Folder) throws {
        (file, key) = (folder("\(name).pem"), folder("\(name).key"))
        let made = try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)", "-keyout", key, "-out", file,
            ])
        try #require(made.end == .code(0), "\(made.errors)")
    }
}
