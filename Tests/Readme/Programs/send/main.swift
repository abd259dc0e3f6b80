import Glibc
import TenfourRadio

// send-a-file speech.wav rtp://10.0.0.7:5004
do {
    guard CommandLine.argc == 3 else { throw RadioError(.usage, "say what to send, and where to") }
    let session = try RadioSession(sending: CommandLine.arguments[1], to: CommandLine.arguments[2])
    try session.run()  // until all of it has been sent
    print("sent \(session.snapshot!.sendStream.packetCount) packets")
} catch {
    print(error)
    exit(1)
}
