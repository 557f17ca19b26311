package io.github.distributedlock.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of this JVM in the store: {@code app@host/pid#random}, so that the owner
 * of a lock can be found by its name. The random part is made at run time: neither a
 * restart with the same pid nor a native image may repeat the random part.
 * <p>
 * <b>Several JVMs may be resumed from one snapshot</b> (CRIU, CRaC, SnapStart, a virtual
 * machine that was copied), all with the identity and the counters of the snapshot. So
 * the engine takes a new identity when the engine is started again. A JVM that is not
 * told of its resumption finds out: each owner token has a stamp of the moment at which
 * the token was made, so that two JVMs never make the same token. A token of this
 * identity was made by another JVM if its stamp differs from the one that was given out
 * here, or if its number was not given out yet. Then this JVM takes a new identity, and
 * logs that.
 * <p>
 * This class listens to the store under earlier identities, too, since requests may wait
 * under them. A start leaves only the last of these identities. A stop has ended all
 * requests but those inside a lock, and a request that outlasts two starts polls. Safe
 * for use by many threads.
 */
final class Instance implements Listening {

	private static final Logger logger = LoggerFactory.getLogger(Instance.class);

	/**
	 * The number of tokens, the last ones, that are told apart from those of other JVMs.
	 */
	private static final int REMEMBERED = 1024;

	/**
	 * The most characters of a name. A token has two names, of the application and of the
	 * host, and PostgreSQL notifies with 8,000 bytes at most.
	 */
	private static final int LONGEST_NAME = 128;

	/**
	 * The number of stamps, which have 9 digits at most.
	 */
	private static final long STAMPS = 1_000_000_000L;

	/**
	 * The present identity.
	 *
	 * @param prefix the beginning of all tokens of the identity
	 * @param exclusive the waiter for those requests that want a key alone
	 */
	private record Identity(String id, String prefix, Waiter exclusive, Listening listening) {
	}

	private final String application;

	private final LockBackend backend;

	private final Supplier<String> random;

	private final Map<String, Listening> all = new ConcurrentHashMap<>();

	private final AtomicLong acquisitions = new AtomicLong();

	/**
	 * The last tokens: the number of each token, in the upper 32 bits, and the stamp.
	 */
	private final AtomicLongArray stamps = new AtomicLongArray(REMEMBERED);

	private @Nullable ReleaseListener listener;

	private volatile Identity identity;

	/**
	 * Creates an identity that does not listen yet.
	 * @param random makes the random part of an identity
	 */
	Instance(String application, LockBackend backend, Supplier<String> random) {
		this.application = application;
		this.random = random;
		this.backend = backend;
		this.identity = make();
	}

	/**
	 * Returns whether an owner is one of this identity, as far as its name tells.
	 */
	boolean isOwn(String owner) {
		return owner.startsWith(this.identity.prefix());
	}

	static String random() {
		return Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE, Character.MAX_RADIX);
	}

	private Identity make() {
		String id = plain(this.application) + "@" + plain(host()) + "/" + ProcessHandle.current().pid() + "#"
				+ this.random.get();
		this.all.put(id, DEAF);
		return new Identity(id, id + ":", Waiter.exclusive(id), DEAF);
	}

	/**
	 * Listens to the store from now on.
	 */
	synchronized void listen(ReleaseListener listener) {
		this.listener = listener;
		Identity silent = this.identity;
		Listening listening = this.backend.listen(silent.id(), listener);
		this.all.put(silent.id(), listening);
		this.identity = new Identity(silent.id(), silent.prefix(), silent.exclusive(), listening);
	}

	/**
	 * Takes a new identity, under which nobody has asked for anything.
	 */
	private void renew() {
		this.identity = make();
		listen(Objects.requireNonNull(this.listener, "listener"));
	}

	/**
	 * Takes a new identity after a stop.
	 */
	synchronized void restart() {
		String last = id();
		renew();
		for (Map.Entry<String, Listening> former : this.all.entrySet()) {
			if (!former.getKey().equals(last) && !former.getKey().equals(id())) {
				Failures.run(former.setValue(DEAF)::close, () -> "The end of a former subscription");
			}
		}
	}

	String id() {
		return this.identity.id();
	}

	Waiter exclusive() {
		return this.identity.exclusive();
	}

	/**
	 * Returns a token that no other acquisition has.
	 */
	String nextOwner() {
		return owner(this.acquisitions.incrementAndGet());
	}

	/**
	 * Returns a token that no other acquisition has.
	 * @param recallable whether others may ask the owner to give the key back
	 */
	String nextOwner(boolean recallable) {
		return recallable ? nextOwner() + Claim.RECALLABLE : nextOwner();
	}

	/**
	 * Returns the token of an acquisition. A thread may be slow to make the token: tokens
	 * of many later numbers may have been made before.
	 */
	String owner(long number) {
		// The stamp mixes two clocks: a JVM that is resumed may continue with the one of
		// the snapshot.
		long stamp = Math.floorMod(System.nanoTime() + 1_000_003 * System.currentTimeMillis(), STAMPS);
		this.stamps.set(slot(number), number << Integer.SIZE | stamp);
		return this.identity.prefix() + number + "-" + stamp;
	}

	/**
	 * Returns whether an instance is this one, now or earlier.
	 */
	boolean is(String instance) {
		return this.all.containsKey(instance);
	}

	/**
	 * Returns whether this JVM has made a token.
	 */
	boolean hasMade(String owner) {
		return is(Claim.instanceOf(owner)) && !isOfAnother(owner);
	}

	/**
	 * Returns whether a token of this identity was certainly made by another JVM.
	 */
	private boolean isOfAnother(String owner) {
		int end = owner.lastIndexOf('-');
		int begin = owner.lastIndexOf(':', end) + 1;
		if (begin == 0 || end < begin) {
			return false;
		}
		try {
			long number = Long.parseLong(owner, begin, end, 10);
			int stampEnd = owner.length() - (Claim.isRecallable(owner) ? 1 : 0);
			long stamp = Long.parseLong(owner, end + 1, stampEnd, 10);
			if (number > this.acquisitions.get()) {
				return true;
			}
			long made = this.stamps.get(slot(number));
			// Otherwise the place is that of another token of this JVM, and the stamp is
			// not known.
			boolean isKnown = made >>> Integer.SIZE == Integer.toUnsignedLong((int) number);
			return isKnown && Integer.toUnsignedLong((int) made) != stamp;
		}
		catch (NumberFormatException ex) {
			return false; // No JVM has made such a token.
		}
	}

	private static int slot(long number) {
		return (int) Math.floorMod(number, (long) REMEMBERED);
	}

	/**
	 * Looks at an owner token that the store has named, and takes a new identity if
	 * another JVM has made the token under this identity.
	 * @return whether another JVM has this identity
	 */
	boolean findsItself(String owner) {
		if (!is(Claim.instanceOf(owner)) || !isOfAnother(owner)) {
			return false;
		}
		leave(owner);
		return true;
	}

	private synchronized void leave(String owner) {
		String left = id();
		if (left.equals(Claim.instanceOf(owner))) {
			renew();
			logger.error(
					"Another JVM acts as {}, the instance of this one: it has the owner token {}, which was not made"
							+ " here. Both were resumed from one snapshot. This one is {} from now on. A lock that was"
							+ " held in the snapshot may have two holders: stop the application context before a"
							+ " snapshot is taken, and start it afterwards",
					left, LockException.printable(owner), id());
		}
	}

	@Override
	public boolean hears() {
		return this.identity.listening().hears();
	}

	@Override
	public boolean isKnown() {
		return this.identity.listening().isKnown();
	}

	@Override
	public void close() {
		this.all.values().forEach(Listening::close);
	}

	/**
	 * Returns a name without the separators of a token, so that a name cannot look like a
	 * reservation.
	 */
	private static String plain(String name) {
		return name.substring(0, Math.min(LONGEST_NAME, name.length())).replaceAll("[^A-Za-z0-9._-]", "-");
	}

	private static String host() {
		String name = System.getenv("HOSTNAME");
		if (name != null && !name.isBlank()) {
			return name;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown";
		}
	}

}
