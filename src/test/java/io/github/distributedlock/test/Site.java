package io.github.distributedlock.test;

import java.util.List;

/**
 * Where a server runs.
 *
 * @param host the address that it listens at
 * @param command what its own command line is put behind, which has to keep the process
 */
public record Site(String host, List<String> command) {

	/** On this machine, like any process. */
	static final Site HERE = new Site("127.0.0.1", List.of());

}
