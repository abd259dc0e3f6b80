// What keeps this machine from talking, and the remedy of each fault: facts are gathered about the machine, the network
// and the other end, and small checks turn them into findings. This module does not know how findings are shown, and it
// changes nothing on the machine.
