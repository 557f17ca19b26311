package io.github.distributedlock.faults;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.RelayedConnection;
import io.github.distributedlock.fixtures.RespMessage;

/**
 * A fault of the first message of a grant of a key that passes a {@link Relay}, or one of
 * several relays. When the message passes, the store has granted the key.
 */
final class GrantTrap implements Relay.Rule {

	/** Number, owner, waiter and key. */
	private static final Pattern GRANT = Pattern.compile("granted: \\d+ (\\S+) \\S+ (.*)");

	private final String key;

	private final Effect effect;

	private final AtomicBoolean armed = new AtomicBoolean(true);

	private final CompletableFuture<String> owner = new CompletableFuture<>();

	/** Passes on the message that is held back. */
	private final CompletableFuture<Delivery> heldBack = new CompletableFuture<>();

	private GrantTrap(String key, Effect effect) {
		this.key = key;
		this.effect = effect;
	}

	private interface Effect {

		/**
		 * @return whether the message is not to be passed on now
		 */
		boolean on(GrantTrap trap, Delivery delivery);

	}

	private interface Delivery {

		void deliver() throws IOException;

	}

	/** Loses the message; later messages on that connection pass. */
	static GrantTrap lose(String key) {
		return new GrantTrap(key, (trap, delivery) -> true);
	}

	/** Holds the message back until it is {@linkplain #deliver() delivered}. */
	static GrantTrap holdBack(String key) {
		return new GrantTrap(key, (trap, delivery) -> trap.heldBack.complete(delivery));
	}

	/** Does something before the message passes. */
	static GrantTrap first(String key, Runnable action) {
		return new GrantTrap(key, (trap, delivery) -> {
			action.run();
			return false;
		});
	}

	/** Waits for the message, and changes nothing. */
	static GrantTrap none(String key) {
		return first(key, () -> {
		});
	}

	@Override
	public boolean apply(RespMessage message, RelayedConnection connection) {
		Matcher grant = GRANT.matcher(message.words().get(2));
		if (!grant.matches() || !grant.group(2).equals(this.key) || !this.armed.compareAndSet(true, false)) {
			return false;
		}
		boolean done = this.effect.on(this, () -> connection.answer(message.bytes()));
		this.owner.complete(grant.group(1));
		return done;
	}

	/** Passes on what was held back. */
	void deliver() throws IOException {
		Patience.get(this.heldBack, "a grant of " + this.key + " to hold back").deliver();
	}

	/** Returns whether there was such a message. */
	boolean hasStruck() {
		return this.owner.isDone();
	}

	/**
	 * To whom the key was granted.
	 * @throws AssertionError if there was no such message
	 */
	String owner() {
		return Patience.get(this.owner, "a grant of " + this.key);
	}

}
