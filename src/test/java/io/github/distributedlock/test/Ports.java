package io.github.distributedlock.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers. They stay free while a server is down, as no system gives them to a
 * client: they are below the range for that. A node of a cluster also takes the port that
 * is higher by 10,000.
 */
final class Ports {

	private static final int FIRST = 10_000;

	private static final int BUS = 10_000;

	private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

	private Ports() {
	}

	static int next() {
		for (int i = 0; i < BUS; i++) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, FIRST + BUS);
			if (isFree(port) && isFree(port + BUS) && GIVEN.add(port)) {
				return port;
			}
		}
		throw new IllegalStateException("No port is free");
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
