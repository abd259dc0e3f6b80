import Glibc
import TenfourSoundCard

// A real-time thread that never sleeps, for RealtimeKitTests: prints its priority after the system has lowered it.
// Exits with 3 if no real-time priority is granted, and with 1 if the priority is still unchanged after 10 s.
let asked = RealTime.request(priority: 10)
guard asked.isGranted, RealTime.limitProcessorTime(toMicroseconds: 400_000) else { exit(3) }
let start = ContinuousClock.now
while asked.renewed() == asked {
    guard ContinuousClock.now - start < .seconds(10) else { exit(1) }
}
print(asked.renewed())
