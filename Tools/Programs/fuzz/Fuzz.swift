// What libFuzzer calls. Exists in Package.swift only when TENFOUR_FUZZ is set, as libFuzzer brings its own main.

import Glibc
import TestSupport

/// Named by the environment variable TENFOUR_FUZZ_TARGET, which Tools/fuzz sets.
private let target: FuzzTarget = {
    guard let name = unsafe getenv("TENFOUR_FUZZ_TARGET"),
        let target = FuzzTarget(rawValue: unsafe String(cString: name))
    else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("TENFOUR_FUZZ_TARGET names none of \(names)")
    }
    return target
}()

@c(LLVMFuzzerTestOneInput)
public func feedOneInput(_ bytes: UnsafePointer<UInt8>?, _ byteCount: Int) -> CInt {
    let input = unsafe UnsafeBufferPointer(start: bytes, count: byteCount)
    target.feed(unsafe input.span)
    return 0
}
