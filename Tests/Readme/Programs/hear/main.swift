import Glibc
import TenfourRadio

// hear rtp://:5004
do {
    let address = CommandLine.arguments.dropFirst().first ?? "rtp://:5004"
    let session = try RadioSession(receivingOn: address) { samples in  // floats, 48 kHz, mono
        let peak = samples.reduce(0) { max($0, abs($1)) }
        print(String(repeating: "#", count: Int(60 * peak)))
    }
    print("listening on \(session.localEndpoint)")
    try session.run()  // until everybody who was heard has left
} catch {
    print(error)
    exit(1)
}
