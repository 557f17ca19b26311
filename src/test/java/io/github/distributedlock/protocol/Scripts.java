package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Objects;

import io.github.distributedlock.protocol.Command.Kind;
import io.github.distributedlock.protocol.Server.Waiter;
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
			case PASS, PASS_OR_YIELD -> pass(state, command);
			case RELEASE -> release(state, command);
			case WITHDRAW -> withdraw(state, command);
		};
	}

	/**
	 * {@code SET NX PX}.
	 */
	private State setIfAbsent(State state, Owner owner) {
		return (state.server().value() == null) ? granted(state, owner) : state;
	}

	/**
	 * {@code acquire.lua}.
	 */
	private State acquire(State state, Owner owner, boolean registers) {
		Server server = state.server();
		boolean free = server.value() == null
				&& (!this.setup.has(Mutant.NO_RETRY_WHEN_REGISTERING) || server.knows(owner.jvm()));
		boolean own = server.isOwnedBy(owner) && !this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED);
		if (free || own || server.isReservedFor(owner.jvm())) {
			return granted(state.with(server.forgotten(owner.jvm())), owner);
		}
		return registers ? state.with(server.waiters(Lists.with(server.waiters(), new Waiter(owner.jvm(), 0))))
			.with(state.ghost().registered(owner.jvm())) : state;
	}

	/**
	 * {@code pass.lua}.
	 */
	private State pass(State state, Command command) {
		Owner owner = command.owner();
		Server server = state.server();
		Owner from = Objects.requireNonNull(command.from());
		if (!server.isOwnedBy(from) && !this.setup.has(Mutant.PASSED_ON_WHOEVER_HAS_IT)) {
			return acquire(state, owner, true);
		}
		State others = state.with(server.forgotten(owner.jvm()));
		if (command.kind() == Kind.PASS || this.setup.has(Mutant.NO_YIELDING)) {
			return others.with(others.server().value(new Value.Owned(owner, false))).with(others.ghost().handedOn());
		}
		State given = wakeNext(others, command);
		if (given.server().value() == null) {
			return granted(given, owner);
		}
		return this.setup.has(Mutant.YIELDS_WITHOUT_REGISTERING) ? given : acquire(given, owner, true);
	}

	/**
	 * {@code release.lua} without an instance that withdraws.
	 */
	private State release(State state, Command command) {
		Server server = state.server();
		boolean may = server.value() == null || server.isOwnedBy(command.owner())
				|| this.setup.has(Mutant.NO_OWNER_CHECK);
		return may ? wakeNext(state, command) : state;
	}

	/**
	 * {@code release.lua} with an instance that withdraws.
	 */
	private State withdraw(State state, Command command) {
		int jvm = command.owner().jvm();
		Server server = state.server().forgotten(jvm);
		State withdrawn = state.with(server).with(state.ghost().withdrawn(jvm));
		boolean passesOn = server.value() == null || server.isReservedFor(jvm);
		return (passesOn && !this.setup.has(Mutant.WITHDRAW_WITHOUT_PASSING_ON)) ? wakeNext(withdrawn, command)
				: withdrawn;
	}

	private State wakeNext(State state, Command command) {
		Server server = state.server();
		List<Waiter> waiters = server.waiters();
		Waiter next = next(state, waiters);
		if (next == null) {
			return state.with(server.waiters(List.of()).value(null));
		}
		int jvm = next.jvm();
		boolean reserves = !this.setup.has(Mutant.NO_RESERVATION);
		State woken = state.with(server.waiters(waiters.subList(waiters.indexOf(next) + 1, waiters.size()))
			.value(reserves ? new Value.Reserved(jvm) : null));
		return state.jvm(jvm).alive() ? woken.messages(jvm, state.messages().get(jvm) + 1)
				: woken.with(state.ghost().reservedForADeadOne(command, jvm));
	}

	private @Nullable Waiter next(State state, List<Waiter> waiters) {
		return waiters.stream()
			.filter((waiter) -> state.jvm(waiter.jvm()).alive() || !this.setup.skipsTheDeaf())
			.findFirst()
			.orElse(null);
	}

	private State granted(State state, Owner owner) {
		Server server = state.server();
		GhostState ghost = state.ghost();
		if (!server.isOwnedBy(owner)) {
			ghost = ghost.lockGranted(owner.jvm(), this.setup.threads().size());
		}
		server = server.value(new Value.Owned(owner, false));
		if (this.setup.fenced()) {
			server = server.token(nextToken(server));
			ghost = ghost.tokenGranted(server.lastToken());
		}
		return state.with(server).with(ghost);
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
