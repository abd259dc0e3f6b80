/* adjtimex of <sys/timex.h>, which Swift's Glibc module leaves out: whether the clock was ever set by somebody who knows the
   time. Declared here, as that header would make a second home for `timespec`. */
struct timex;
int adjtimex(struct timex *);
