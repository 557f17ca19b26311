package io.github.distributedlock.benchmark;

/**
 * What a server has done so far, by its own count.
 *
 * @param commands all commands that it has executed, those inside scripts too
 * @param requests how often it has read from a client: once for each request, or for
 * several that were sent together
 * @param cpuSeconds the processor time it has used
 */
record ServerLoad(long commands, long requests, double cpuSeconds) {

	/**
	 * What it has done since, without the question itself.
	 */
	ServerLoad since(ServerLoad before) {
		return new ServerLoad(this.commands - before.commands - 1, this.requests - before.requests - 1,
				this.cpuSeconds - before.cpuSeconds);
	}

}
