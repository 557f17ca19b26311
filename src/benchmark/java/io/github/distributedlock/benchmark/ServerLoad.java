package io.github.distributedlock.benchmark;

/**
 * The work of a server so far, by the server's own count.
 *
 * @param commands all commands that were executed, those inside scripts too
 * @param requests how often the server has read from a client: once for each request, or
 * for several that were sent together
 * @param cpuSeconds the processor time of the server
 */
record ServerLoad(long commands, long requests, double cpuSeconds) {

	/**
	 * Returns the work since then, without the question for this count.
	 */
	ServerLoad since(ServerLoad before) {
		return new ServerLoad(this.commands - before.commands - 1, this.requests - before.requests - 1,
				this.cpuSeconds - before.cpuSeconds);
	}

}
