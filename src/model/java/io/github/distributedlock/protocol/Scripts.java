package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.protocol.Command.Kind;

/**
 * The effect of a command on the server, in one step: that of {@link ModelKey}. The
 * server's memory is also that of the mode without Lua, and so is read and written each
 * time.
 */
final class Scripts {

	/**
	 * The rules of the server that mutants break.
	 */
	static final Map<Mutant, KeyRule> RULES = Map.of(Mutant.NO_OWNER_CHECK, KeyRule.OWNER_IS_COMPARED,
			Mutant.NO_RETRY_WHEN_REGISTERING, KeyRule.RETRIED_WHEN_REGISTERED, Mutant.WITHDRAW_WITHOUT_PASSING_ON,
			KeyRule.PASSED_ON, Mutant.NO_RESERVATION, KeyRule.WOKEN_WITH_RESERVATION, Mutant.OWN_VALUE_NOT_RECOGNISED,
			KeyRule.OWNERS_ARE_RECOGNISED, Mutant.PASSED_ON_WHOEVER_HAS_IT, KeyRule.PASSED_ON_BY_OWNERS,
			Mutant.NO_YIELDING, KeyRule.YIELDS_TO_OTHERS, Mutant.YIELDS_WITHOUT_REGISTERING,
			KeyRule.REGISTERED_AFTER_YIELDING, Mutant.TOKEN_FROM_A_COUNTER_ALONE, KeyRule.TOKENS_FOLLOW_THE_CLOCK,
			Mutant.TOKEN_FROM_THE_CLOCK_ALONE, KeyRule.TOKENS_ARE_COUNTED);

	private static final Duration LEASE = Duration.ofSeconds(10);

	private final Setup setup;

	private final Set<KeyRule> broken;

	Scripts(Setup setup) {
		this.setup = setup;
		KeyRule rule = (setup.mutant() != null) ? RULES.get(setup.mutant()) : null;
		this.broken = (rule != null) ? Set.of(rule) : Set.of();
	}

	State run(State state, Command command) {
		Owner owner = command.owner();
		String token = owner.token();
		Claim claim = Claim.of(ModelKey.NAME, token, waiter(owner.jvm()), LEASE).fenced(this.setup.fenced());
		return switch (command.kind()) {
			case ACQUIRE -> this.setup.fenced() ? run(state, command, (server) -> server.acquire(claim))
					: setIfAbsent(state, owner);
			case ACQUIRE_OR_REGISTER -> run(state, command, (server) -> server.acquireOrRegister(claim));
			case PASS, PASS_OR_YIELD -> run(state, command, (server) -> server
				.pass(Objects.requireNonNull(command.from()).token(), claim, command.kind() == Kind.PASS_OR_YIELD));
			case RELEASE -> run(state, command, (server) -> server.release(ModelKey.NAME, token));
			case WITHDRAW -> run(state, command, (server) -> server.withdraw(ModelKey.NAME, claim.waiter(), Set.of()));
		};
	}

	/**
	 * {@code SET NX PX}, which leaves waiters alone.
	 */
	private State setIfAbsent(State state, Owner owner) {
		Server server = state.server();
		return (server.value() != null) ? state : state.with(server.value(new Value.Owned(owner, false)))
			.with(state.ghost().lockGranted(owner.jvm(), this.setup.threads().size()));
	}

	private State run(State state, Command command, Consumer<LockBackend> step) {
		List<ReleaseNotification> sent = new ArrayList<>(1);
		Server before = state.server();
		ModelKey key = key(before).after(this.broken,
				(instance) -> !this.setup.skipsTheDeaf() || state.jvm(Owner.jvm(instance)).alive(), step, sent::add);
		Server after = server(key, before, command);
		State done = state.with(after).with(judged(state, command, after));
		for (ReleaseNotification notification : sent) {
			int jvm = Owner.jvm(notification.waiter().instance());
			done = state.jvm(jvm).alive() ? done.messages(jvm, done.messages().get(jvm) + 1)
					: done.with(done.ghost().reservedForADeadOne(command, jvm));
		}
		return done;
	}

	private static ModelKey key(Server server) {
		ModelKey key = ModelKey.FREE;
		if (server.value() instanceof Value.Owned owned) {
			key = key.ownedBy(owned.owner().token());
		}
		else if (server.value() instanceof Value.Reserved reserved) {
			key = key.reservedFor(waiter(reserved.jvm()));
		}
		return key.waitingFor(server.waiters().stream().map((waiter) -> waiter(waiter.jvm())).toList())
			.token(server.lastToken() - server.clock());
	}

	private static Server server(ModelKey key, Server before, Command command) {
		Value value = null;
		Holder holder = key.holder();
		if (holder != null && holder.isReservation()) {
			value = new Value.Reserved(Owner.jvm(holder.name()));
		}
		else if (holder != null) {
			Owner owner = Owner.of(holder.name());
			boolean same = before.isOwnedBy(owner) && !command.mayTakeTheLockFor(owner);
			value = same ? before.value() : new Value.Owned(owner, false);
		}
		List<Server.Waiter> waiters = key.waiters()
			.stream()
			.map((waiter) -> new Server.Waiter(Owner.jvm(waiter.instance()), 0))
			.toList();
		return new Server(value, waiters, (int) key.token() + before.clock(), before.clock());
	}

	/**
	 * Returns the observer's memory after a command.
	 */
	private GhostState judged(State state, Command command, Server after) {
		Owner owner = command.owner();
		Server before = state.server();
		GhostState ghost = state.ghost();
		if (command.kind() == Kind.WITHDRAW) {
			return ghost.withdrawn(owner.jvm());
		}
		if (command.kind() == Kind.RELEASE) {
			return ghost;
		}
		if (!after.isOwnedBy(owner) || this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED) && before.isOwnedBy(owner)) {
			return after.knows(owner.jvm()) ? ghost.registered(owner.jvm()) : ghost;
		}
		Owner from = command.from();
		boolean yields = command.kind() == Kind.PASS_OR_YIELD && !this.setup.has(Mutant.NO_YIELDING);
		if (from != null && before.isOwnedBy(from) && !yields) {
			return ghost.handedOn();
		}
		GhostState granted = before.isOwnedBy(owner) ? ghost
				: ghost.lockGranted(owner.jvm(), this.setup.threads().size());
		return this.setup.fenced() ? granted.tokenGranted(after.lastToken()) : granted;
	}

	private static Waiter waiter(int jvm) {
		return Waiter.exclusive(Owner.instance(jvm));
	}

}
