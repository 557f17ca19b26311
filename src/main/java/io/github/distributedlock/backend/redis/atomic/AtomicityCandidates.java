package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;

import io.github.distributedlock.backend.redis.connection.Lanes;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;

/**
 * The ways to make steps atomic that a server may allow.
 */
final class AtomicityCandidates {

	private static final byte[] EXPECTED = KeyNames.bytes("nothing has this value");

	private final KeyNames names;

	private final OwnConnections connections;

	private final UnansweredRenewals unanswered = new UnansweredRenewals();

	private final CommandTrial trial;

	private final Duration timeout;

	private final Publishing publishing;

	private final boolean asksReplicas;

	AtomicityCandidates(KeyNames names, OwnConnections connections, Duration timeout, Publishing publishing,
			boolean asksReplicas) {
		this.names = names;
		this.connections = connections;
		this.trial = new CommandTrial(names);
		this.timeout = timeout;
		this.publishing = publishing;
		this.asksReplicas = asksReplicas;
	}

	/**
	 * The ways that a setting allows.
	 * @param atomicity the setting
	 * @return the best first; none if it is not possible on these connections
	 */
	List<AtomicityCandidate> allowedBy(Atomicity atomicity) {
		List<AtomicityCandidate> all = new ArrayList<>();
		if (atomicity == Atomicity.AUTO || atomicity == Atomicity.LUA) {
			all.add(lua());
		}
		if (atomicity == Atomicity.AUTO || atomicity == Atomicity.NATIVE) {
			for (NativeCompareAndSet compareAndSet : NativeCompareAndSet.values()) {
				all.add(nativeBy(compareAndSet));
			}
		}
		Lanes exclusive = this.connections.exclusive();
		if (exclusive != null && (atomicity == Atomicity.AUTO || atomicity == Atomicity.TRANSACTION)) {
			all.add(transaction(exclusive));
		}
		if (exclusive != null && atomicity == Atomicity.BEST_EFFORT) {
			all.add(plain(Atomicity.BEST_EFFORT, "best-effort", new BestEffortCompareAndSet(),
					this.connections.shared(), this.trial::run));
		}
		return all;
	}

	private AtomicityCandidate lua() {
		LuaSteps scripts = new LuaSteps(this.names, this.publishing);
		Steps steps = this.connections.cluster() ? new ClusterSteps(scripts, plain(new LuaCompareAndSet())) : scripts;
		return new AtomicityCandidate(Atomicity.LUA, "lua", steps, this.connections.shared(), trial(scripts::tryOut));
	}

	private AtomicityCandidate nativeBy(NativeCompareAndSet compareAndSet) {
		String description = "native (" + compareAndSet.name().replace('_', ' ') + ")";
		return plain(Atomicity.NATIVE, description, compareAndSet, this.connections.shared(), (link, key) -> {
			byte[] name = this.names.lock(key);
			compareAndSet.replace(link, name, EXPECTED, EXPECTED, 1);
			compareAndSet.replace(link, name, EXPECTED, null, 1);
			this.trial.run(link, key);
		});
	}

	private AtomicityCandidate transaction(Lanes exclusive) {
		TransactionCompareAndSet compareAndSet = new TransactionCompareAndSet();
		return plain(Atomicity.TRANSACTION, "transaction", compareAndSet, exclusive, (link, key) -> {
			// First, since a transaction does not say why it was aborted.
			this.trial.run(link, key);
			compareAndSet.tryOut(link, this.names.lock(key));
		});
	}

	private AtomicityCandidate plain(Atomicity atomicity, String description, CompareAndSet compareAndSet, Lanes lanes,
			BiConsumer<Link, String> trial) {
		return new AtomicityCandidate(atomicity, description, plain(compareAndSet), lanes, trial(trial));
	}

	private BiConsumer<Link, String> trial(BiConsumer<Link, String> steps) {
		return this.asksReplicas ? steps.andThen((link, key) -> Replicas.tryOut(link, this.names.lock(key))) : steps;
	}

	private PlainSteps plain(CompareAndSet compareAndSet) {
		return new PlainSteps(this.names, compareAndSet, this.unanswered, this.timeout, this.publishing);
	}

	/**
	 * A setting as it is written in a configuration.
	 */
	static String text(Atomicity atomicity) {
		return atomicity.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
