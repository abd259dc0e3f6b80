// The entry point that libFuzzer calls. This target exists only if TENFOUR_FUZZ is set, because libFuzzer has a
// `main` of its own.

import FuzzTargets
import Glibc

/// The target named by the environment variable TENFOUR_FUZZ_TARGET, which Tools/fuzz sets.
private let target: FuzzTarget = {
    guard let name = unsafe getenv("TENFOUR_FUZZ_TARGET"),
        let target = FuzzTarget(rawValue: unsafe String(cString: name))
    else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("TENFOUR_FUZZ_TARGET names none of \(names)")
    }
    // libFuzzer ends by `exit`.
    atexit { if authenticCount > 0 { print("stat::authentic: \(authenticCount)") } }
    return target
}()

@c(LLVMFuzzerTestOneInput)
public func feedOneInput(_ bytes: UnsafePointer<UInt8>?, _ byteCount: Int) -> CInt {
    let input = unsafe UnsafeBufferPointer(start: bytes, count: byteCount)
    target.feed(unsafe input.span)
    return 0
}
