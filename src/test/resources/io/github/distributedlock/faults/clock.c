/*
 * Preloaded into a server, puts its wall clock ahead of the machine's by as many seconds
 * as stand, as a long, in the file that SERVER_CLOCK names.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const long *ahead;

__attribute__((constructor)) static void begin(void) {
	const char *name = getenv("SERVER_CLOCK");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (file >= 0) {
		void *map = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
		ahead = map != MAP_FAILED ? map : NULL;
		close(file);
	}
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	int result = (int) syscall(SYS_clock_gettime, clock, now);
	if (result == 0 && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		now->tv_sec += *ahead;
	}
	return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	struct timespec time;
	(void) zone;
	int result = clock_gettime(CLOCK_REALTIME, &time);
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return result;
}

time_t time(time_t *result) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (result) {
		*result = now.tv_sec;
	}
	return now.tv_sec;
}
