package io.github.distributedlock.backend.redis.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the server does with a command, in one step.
 */
final class Scripts {

	private final Setup setup;

	Scripts(Setup setup) {
		this.setup = setup;
	}

	State run(State state, Command command) {
		Owner owner = command.owner();
		return switch (command.kind()) {
			case ACQUIRE -> this.setup.fenced() ? acquire(state, owner, false) : setIfAbsent(state, owner);
			case ACQUIRE_OR_REGISTER -> acquire(state, owner, true);
			case RELEASE -> release(state, owner);
			case WITHDRAW -> withdraw(state, owner.jvm());
		};
	}

	/**
	 * {@code SET NX PX}.
	 */
	private State setIfAbsent(State state, Owner owner) {
		return (state.server().value() == null) ? granted(state, owner) : state;
	}

	/**
	 * {@code acquire-or-register.lua}.
	 */
	private State acquire(State state, Owner owner, boolean registers) {
		Server server = state.server();
		boolean free = server.value() == null
				&& (!this.setup.has(Mutant.NO_RETRY_WHEN_REGISTERING) || server.waiters().contains(owner.jvm()));
		boolean own = server.isOwnedBy(owner) && !this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED);
		if (free || own || server.isReservedFor(owner.jvm())) {
			return granted(state.with(server.waiters(Lists.without(server.waiters(), owner.jvm()))), owner);
		}
		return registers ? state.with(server.waiters(Lists.with(server.waiters(), owner.jvm())))
			.with(state.witness().registered(owner.jvm())) : state;
	}

	/**
	 * {@code release.lua} without an instance that withdraws.
	 */
	private State release(State state, Owner owner) {
		Server server = state.server();
		boolean may = server.value() == null || server.isOwnedBy(owner) || this.setup.has(Mutant.NO_OWNER_CHECK);
		return may ? wakeNext(state) : state;
	}

	/**
	 * {@code release.lua} with an instance that withdraws.
	 */
	private State withdraw(State state, int jvm) {
		Server server = state.server().waiters(Lists.without(state.server().waiters(), jvm));
		State withdrawn = state.with(server).with(state.witness().withdrawn(jvm));
		boolean passesOn = server.value() == null || server.isReservedFor(jvm);
		return (passesOn && !this.setup.has(Mutant.WITHDRAW_WITHOUT_PASSING_ON)) ? wakeNext(withdrawn) : withdrawn;
	}

	private State wakeNext(State state) {
		Server server = state.server();
		List<Integer> waiters = server.waiters();
		Integer next = next(state, waiters);
		List<Integer> rest = (next != null) ? waiters.subList(waiters.indexOf(next) + 1, waiters.size()) : List.of();
		boolean reserves = next != null && !this.setup.has(Mutant.NO_RESERVATION);
		State woken = state.with(server.waiters(List.copyOf(rest)).value(reserves ? new Value.Reserved(next) : null));
		return (next != null && state.jvm(next).alive()) ? woken.messages(next, state.messages().get(next) + 1) : woken;
	}

	private @Nullable Integer next(State state, List<Integer> waiters) {
		return waiters.stream()
			.filter((jvm) -> state.jvm(jvm).alive() || !this.setup.skipsTheDeaf())
			.findFirst()
			.orElse(null);
	}

	private State granted(State state, Owner owner) {
		Server server = state.server();
		Witness witness = state.witness();
		if (!server.isOwnedBy(owner)) {
			witness = witness.lockGranted(owner.jvm(), this.setup.threads().size());
		}
		server = server.value(new Value.Owned(owner, false));
		if (this.setup.fenced()) {
			server = server.token(nextToken(server));
			witness = witness.tokenGranted(server.lastToken());
		}
		return state.with(server).with(witness);
	}

	private int nextToken(Server server) {
		if (this.setup.has(Mutant.TOKEN_FROM_A_COUNTER_ALONE)) {
			return server.lastToken() + 1;
		}
		if (this.setup.has(Mutant.TOKEN_FROM_THE_CLOCK_ALONE)) {
			return server.clock();
		}
		return Math.max(server.lastToken() + 1, server.clock());
	}

}
