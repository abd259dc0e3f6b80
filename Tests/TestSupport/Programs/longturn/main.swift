import Glibc
import TenfourSoundCard

// A real-time thread that never sleeps: prints what became of its priority once that is lowered, for RealtimeKitTests. Ends with 3
// where it is granted none, and with 1 where it keeps it for 10 s.
let asked = RealTime.request(priority: 10)
guard asked.isGranted, RealTime.limitProcessorTime(toMicroseconds: 400_000) else { exit(3) }
let start = ContinuousClock.now
while asked.renewed() == asked {
    guard ContinuousClock.now - start < .seconds(10) else { exit(1) }
}
print(asked.renewed())
