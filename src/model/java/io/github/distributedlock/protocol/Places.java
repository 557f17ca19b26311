package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.github.distributedlock.protocol.Server.Waiter;

/**
 * The places of those who wait for a lock without Lua: {@code WaitingList.add} reads the
 * last place and takes the next by another command, so that places may be stale, or
 * equal. In a run without faults, and of the other commands only those that matter to the
 * order.
 *
 * @param waiters what stands in {@code lock-waiters:{k}}
 * @param clients what each JVM does
 * @param bypasses how often another JVM got the lock since the first one is registered,
 * -1 if the first JVM is not registered
 */
record Places(List<Waiter> waiters, List<Client> clients, int bypasses) {

	static Places of(int jvms, int requests) {
		return new Places(List.of(), Collections.nCopies(jvms, new Client(Phase.AWAY, 0, requests)), -1);
	}

	/**
	 * The steps that are possible.
	 * @param step by how much a place is after the one that was seen to be last
	 */
	List<Transition<Places>> transitions(int step) {
		List<Transition<Places>> transitions = new ArrayList<>();
		for (int jvm = 0; jvm < this.clients.size(); jvm++) {
			Client client = this.clients.get(jvm);
			int number = client.number();
			switch (client.phase()) {
				case AWAY -> {
					if (client.requests() > 0) {
						happens(transitions, jvm, "asks", isFree() ? acquired(jvm) : to(jvm, Phase.LOOKING, 0));
					}
				}
				case LOOKING -> happens(transitions, jvm, "sees the last place", to(jvm, Phase.COMING, lastPlace()));
				case COMING ->
					happens(transitions, jvm, "registers", to(jvm, Phase.WAITING, 0).registered(jvm, number + step));
				case WAITING -> {
					if (isFree()) {
						happens(transitions, jvm, "asks again", acquired(jvm));
					}
				}
				case HOLDING -> happens(transitions, jvm, "sees who waits", this.waiters.isEmpty()
						? to(jvm, Phase.AWAY, 0) : to(jvm, Phase.PASSING, this.waiters.get(0).jvm()));
				case PASSING ->
					happens(transitions, jvm, "passes the lock to J" + number, to(jvm, Phase.AWAY, 0).acquired(number));
			}
		}
		return transitions;
	}

	private static void happens(List<Transition<Places>> transitions, int jvm, String what, Places to) {
		transitions.add(new Transition<>(Transition.Kind.PROTOCOL, "J" + jvm, what, to));
	}

	private boolean isFree() {
		return this.clients.stream()
			.noneMatch((client) -> client.phase() == Phase.HOLDING || client.phase() == Phase.PASSING);
	}

	private int lastPlace() {
		return server().lastPlace();
	}

	private Places to(int jvm, Phase phase, int number) {
		Client client = new Client(phase, number, this.clients.get(jvm).requests());
		return new Places(this.waiters, Lists.replaced(this.clients, jvm, client), this.bypasses);
	}

	private Places registered(int jvm, int place) {
		return new Places(server().registered(jvm, place).waiters(), this.clients,
				(jvm == GhostState.WATCHED) ? 0 : this.bypasses);
	}

	private Places acquired(int jvm) {
		int bypasses = (jvm == GhostState.WATCHED) ? -1 : (this.bypasses >= 0) ? this.bypasses + 1 : -1;
		Client client = new Client(Phase.HOLDING, 0, this.clients.get(jvm).requests() - 1);
		return new Places(server().forgotten(jvm).waiters(), Lists.replaced(this.clients, jvm, client), bypasses);
	}

	private Server server() {
		return new Server(null, this.waiters, 0, 0);
	}

	/**
	 * The state of a JVM.
	 *
	 * @param phase how far the JVM is
	 * @param number the last place, or the waiting JVM, that was seen
	 * @param requests how many requests for the lock are left
	 */
	record Client(Phase phase, int number, int requests) {
	}

	enum Phase {

		AWAY, LOOKING, COMING, WAITING, HOLDING, PASSING

	}

}
