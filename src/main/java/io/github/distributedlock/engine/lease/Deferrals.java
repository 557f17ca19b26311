package io.github.distributedlock.engine.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What could not be told the store while a handle was closed, and is left to the
 * {@link Sweeper}: however many keys there are, a node that has not answered is not asked
 * again, and one cause makes one line in the log. Confined to the closing thread.
 */
final class Deferrals {

	private static final Logger logger = LoggerFactory.getLogger(Deferrals.class);

	private final Nodes nodes;

	private final Sweeper sweeper;

	private final Events events;

	/**
	 * The nodes that have not answered, each with the failure that said so.
	 */
	private final Map<Object, RuntimeException> silent = new HashMap<>(0);

	private final Map<String, List<Hold>> causes = new LinkedHashMap<>(0);

	Deferrals(LockBackend backend, Sweeper sweeper, Events events) {
		this.nodes = new Nodes(backend);
		this.sweeper = sweeper;
		this.events = events;
	}

	/**
	 * Why the store is not to be asked for a key, {@code null} if it is.
	 */
	@Nullable RuntimeException silence(String key) {
		return this.silent.isEmpty() ? null : this.silent.get(this.nodes.of(key));
	}

	/**
	 * Leaves a hold to the sweeper.
	 * @param rest for how much longer the key is to block others, or 0
	 */
	void add(Hold hold, long rest, RuntimeException failure) {
		LockBackendException known = Failures.asBackendException("release", hold.key(), failure);
		if (!known.isNotCarriedOut()) {
			this.silent.putIfAbsent(this.nodes.of(hold.key()), failure);
		}
		this.causes.computeIfAbsent(cause(failure), (cause) -> {
			logger.debug("Could not release lock '{}' of {}", LockException.printable(hold.key()), hold.owner(),
					failure);
			return new ArrayList<>(1);
		}).add(hold);
		this.sweeper.release(hold.ownership(), rest);
		this.events.publish(new LockEvent.ReleaseDeferred(hold.options().name(), hold.key(), hold.owner(), known));
	}

	/**
	 * To be called when all holds have ended.
	 */
	void log() {
		this.causes.forEach((cause, holds) -> {
			Hold first = holds.get(0);
			String more = (holds.size() > 1) ? " and " + (holds.size() - 1) + " more" : "";
			logger.warn("Could not release lock '{}'{} of {}, trying again until the lease has run out in {}: {}",
					LockException.printable(first.key()), more, first.owner(),
					Text.of(first.ownership().leftOnServer()), cause);
		});
	}

	/**
	 * What it comes from: the messages above that may name the key.
	 */
	private static String cause(Throwable failure) {
		List<Throwable> causes = LockException.causes(failure);
		return causes.get(causes.size() - 1).toString();
	}

}
