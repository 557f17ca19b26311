package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyState.Held;
import io.github.distributedlock.backend.KeyState.Place;
import io.github.distributedlock.backend.KeyState.Place.Bid;
import io.github.distributedlock.backend.KeyState.Signs;
import org.jspecify.annotations.Nullable;

/**
 * The server of the protocol's models: a {@link KeyState}, and commands that are steps of
 * {@link KeyStep}. The time is the same in each state, so that models are finite: time
 * passes as all other times are set back.
 * <p>
 * Immutable.
 */
public final class ModelKey {

	/**
	 * The only key.
	 */
	public static final String NAME = "k";

	/**
	 * A free key for which nobody waits.
	 */
	public static final ModelKey FREE = new ModelKey(KeyState.FREE, 0);

	/**
	 * For how long a key is reserved, in microseconds.
	 */
	static final long RESERVATION = 1_000;

	/**
	 * After how long a silent waiter is dead.
	 */
	private static final Duration SILENCE = Duration.ofMillis(900);

	static final long NOW = 1_000_000_000_000L;

	/**
	 * When silent waiters were heard last.
	 */
	static final long LONG_AGO = NOW - KeyStep.micros(SILENCE);

	private static final long BEFORE = LONG_AGO - 1_000;

	private static final long JUST_BEFORE = NOW - 1_000;

	private static final long FUTURE = NOW + 1_000_000_000;

	private final KeyState state;

	private final int hash;

	private final long pulse;

	private ModelKey(KeyState state, long pulse) {
		this.state = state;
		this.pulse = pulse;
		this.hash = state.hashCode();
	}

	/**
	 * Carries out a command.
	 * @param broken the rules that the server breaks
	 * @param hears returns whether an instance hears notifications
	 * @param command the command
	 * @param sends what is done with notifications
	 * @return the key after the command
	 */
	public ModelKey after(Set<KeyRule> broken, Predicate<String> hears, Consumer<LockBackend> command,
			Consumer<ReleaseNotification> sends) {
		Server server = new Server(broken, hears, sends);
		command.accept(server);
		return with(server.state);
	}

	/**
	 * Lets time pass for leases, but not for waiters.
	 * @param millis how much
	 * @return the key without the holders whose lease has ended
	 */
	public ModelKey later(long millis) {
		return holders(this.state.holders.stream()
			.map((held) -> held.until(held.end() - 1_000 * millis))
			.filter((held) -> held.end() > NOW));
	}

	/**
	 * Ends the lease of an owner.
	 * @param owner the owner token
	 * @return the key without the owner
	 */
	public ModelKey without(String owner) {
		return holders(this.state.holders.stream().filter((held) -> !held.isOwnedBy(owner)));
	}

	/**
	 * Ends a reservation.
	 * @param waiter for whom
	 * @return the key without the reservation
	 */
	public ModelKey without(Waiter waiter) {
		return holders(this.state.holders.stream().filter((held) -> !held.isReservedFor(waiter)));
	}

	/**
	 * Lets waiters be silent for so long that they are dead.
	 * @param waiters which waiters
	 * @param alone whether nobody else is heard, if there is nobody else
	 * @return the key with those waiters
	 */
	public ModelKey silent(Predicate<Waiter> waiters, boolean alone) {
		KeyState before = this.state;
		long pardon = (before.signs.pardon() == NOW) ? LONG_AGO : before.signs.pardon();
		List<Place> places = before.places.stream().map((place) -> {
			boolean since = place.heard() < before.signs.pardon();
			return (place.heard() > NOW || !(since || waiters.test(place.waiter()))) ? place
					: heard(place, since ? BEFORE : LONG_AGO);
		}).toList();
		boolean allSilent = alone && before.signs.lastHeard() <= NOW
				&& places.stream().noneMatch((place) -> place.heard() == NOW);
		return with(new KeyState(before.holders, places, before.token,
				new Signs(allSilent ? LONG_AGO : before.signs.lastHeard(), pardon)));
	}

	/**
	 * Lets waiters be silent for some time, while others are heard.
	 * @param millis how much
	 * @param second whether the next second begins
	 * @return the key with all waiters
	 */
	public ModelKey silent(long millis, boolean second) {
		return places(this.state.places.stream()
			.map((place) -> heard(place, second ? LONG_AGO : place.since(), place.heard() - 1_000 * millis)));
	}

	/**
	 * Returns whether the youngest place was made in this second.
	 */
	public boolean isYoung() {
		List<Place> places = this.state.places;
		return !places.isEmpty() && places.get(places.size() - 1).since() == NOW;
	}

	/**
	 * Returns whether a waiter was silent for so long that it is dead.
	 * @param waiter the waiter, which has a place
	 */
	public boolean isSilent(Waiter waiter) {
		return this.state.places.stream()
			.anyMatch((place) -> place.waiter().equals(waiter) && place.heard() <= LONG_AGO);
	}

	public ModelKey withoutWaiters() {
		return places(Stream.of());
	}

	/**
	 * Returns the key with an owner instead of the present ones.
	 * @param owner the owner token
	 */
	public ModelKey ownedBy(String owner) {
		return holders(Stream.of(Held.owner(Waiter.exclusive(Claim.instanceOf(owner)), owner, FUTURE)));
	}

	/**
	 * Returns the key with a reservation instead of the present owners.
	 * @param waiter the waiter that the key is reserved for
	 */
	public ModelKey reservedFor(Waiter waiter) {
		return holders(Stream.of(Held.reservation(waiter, NOW + RESERVATION)));
	}

	/**
	 * Returns the key with other waiters, which were just heard.
	 * @param waiters the waiters, oldest first
	 */
	public ModelKey waitingFor(List<Waiter> waiters) {
		Signs signs = waiters.isEmpty() ? Signs.NONE : new Signs(NOW, 0);
		return with(new KeyState(this.state.holders,
				waiters.stream().map((waiter) -> new Place(waiter, NOW, NOW, null)).toList(), this.state.token, signs));
	}

	/**
	 * Returns the key with another fencing token.
	 * @param token the token, compared with the time
	 */
	public ModelKey token(long token) {
		return with(new KeyState(this.state.holders, this.state.places, NOW + token, this.state.signs));
	}

	/**
	 * Returns the last fencing token, compared with the time.
	 */
	public long token() {
		return this.state.token - NOW;
	}

	/**
	 * Returns the key of a server that does not write again so soon that a waiter was
	 * heard.
	 * @param millis for how long
	 */
	public ModelKey pulse(long millis) {
		return new ModelKey(this.state, 1_000 * millis);
	}

	/**
	 * Sets the clock back by longer than anybody waits.
	 * @return the key with waiters that were heard in the future
	 */
	public ModelKey setBack() {
		KeyState before = this.state;
		return with(new KeyState(before.holders, before.places.stream().map((place) -> heard(place, FUTURE)).toList(),
				before.token, new Signs(FUTURE, (before.signs.pardon() > 0) ? FUTURE : 0)));
	}

	/**
	 * Returns whether a waiter was pardoned a moment ago, and has said nothing since.
	 * @param waiter the waiter
	 */
	public boolean isPardoned(Waiter waiter) {
		return this.state.signs.pardon() == NOW
				&& this.state.places.stream().anyMatch((place) -> place.waiter().equals(waiter) && place.heard() < NOW);
	}

	private static Place heard(Place place, long time) {
		return heard(place, place.since(), time);
	}

	private static Place heard(Place place, long since, long time) {
		Bid bid = place.bid();
		return new Place(place.waiter(), since, time,
				(bid == null) ? null : new Bid(bid.number(), bid.owner(), bid.lease(), Math.min(time, NOW)));
	}

	/**
	 * Numbers the claims of waiters anew.
	 * @param owners whose claims
	 * @param number the new number
	 * @return the key with that number
	 */
	public ModelKey numbered(Predicate<String> owners, long number) {
		return places(this.state.places.stream().map((place) -> {
			Bid bid = place.bid();
			return (bid == null || bid.number() == number || !owners.test(bid.owner())) ? place
					: new Place(place.waiter(), place.since(), place.heard(),
							new Bid(number, bid.owner(), bid.lease(), bid.time()));
		}));
	}

	private ModelKey holders(Stream<Held> holders) {
		return with(new KeyState(holders.toList(), this.state.places, this.state.token, this.state.signs));
	}

	private ModelKey places(Stream<Place> places) {
		return with(new KeyState(this.state.holders, places.toList(), this.state.token, this.state.signs));
	}

	private ModelKey with(KeyState state) {
		KeyState normal = normal(state);
		return normal.equals(this.state) ? this : new ModelKey(normal, this.pulse);
	}

	/**
	 * Leaves of times what can make a difference, so that models are finite.
	 */
	private static KeyState normal(KeyState state) {
		long pardon = (state.signs.pardon() == 0) ? 0 : normal(state.signs.pardon());
		List<Place> places = state.places.stream().map((place) -> {
			boolean since = place.heard() < state.signs.pardon();
			long heard = !since ? normal(place.heard()) : (pardon == NOW) ? JUST_BEFORE : BEFORE;
			long came = (place.since() > LONG_AGO) ? NOW : LONG_AGO;
			return (heard == place.heard() && came == place.since()) ? place : heard(place, came, heard);
		}).toList();
		long lastHeard = places.isEmpty() ? 0 : (pardon == NOW) ? NOW : normal(state.signs.lastHeard());
		return new KeyState(state.holders, places, state.token, new Signs(lastHeard, pardon));
	}

	private static long normal(long time) {
		return (time > NOW) ? FUTURE : (time >= JUST_BEFORE) ? NOW : Math.max(time, LONG_AGO);
	}

	/**
	 * Returns the only holder, {@code null} if the key is free.
	 */
	public @Nullable Holder holder() {
		return this.state.holders.isEmpty() ? null : this.state.holders.get(0).holder();
	}

	/**
	 * Returns those that own the key, in the order in which they came.
	 */
	public List<String> owners() {
		return this.state.holders.stream()
			.filter((held) -> held.state() == Holder.State.OWNER)
			.map(Held::name)
			.toList();
	}

	/**
	 * Returns those that the key is reserved for, in the order in which they came.
	 */
	public List<Waiter> reservations() {
		return this.state.holders.stream()
			.filter((held) -> held.state() == Holder.State.RESERVATION)
			.map(Held::kind)
			.toList();
	}

	/**
	 * Returns whether an owner has the key alone.
	 */
	public boolean isOwnedAlone() {
		Held held = this.state.holders.isEmpty() ? null : this.state.holders.get(0);
		return held != null && held.state() == Holder.State.OWNER && held.isExclusive();
	}

	/**
	 * Returns the waiters, oldest first.
	 */
	public List<Waiter> waiters() {
		return this.state.places.stream().map(Place::waiter).toList();
	}

	/**
	 * Returns whether an owner has the key.
	 * @param owner the owner token
	 */
	public boolean isOwnedBy(String owner) {
		for (Held held : this.state.holders) {
			if (held.isOwnedBy(owner)) {
				return true;
			}
		}
		return false;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other
				|| (other instanceof ModelKey key && this.hash == key.hash && this.state.equals(key.state));
	}

	@Override
	public int hashCode() {
		return this.hash;
	}

	@Override
	public String toString() {
		return this.state.toString();
	}

	/**
	 * Carries out one command.
	 */
	private final class Server extends OptimisticLockBackend {

		private final Set<KeyRule> broken;

		private final Predicate<String> hears;

		private final Consumer<ReleaseNotification> sends;

		private KeyState state = ModelKey.this.state;

		private Server(Set<KeyRule> broken, Predicate<String> hears, Consumer<ReleaseNotification> sends) {
			super(Duration.ofNanos(1_000 * RESERVATION), SILENCE);
			this.broken = broken;
			this.hears = hears;
			this.sends = sends;
		}

		@Override
		KeyStep begin(String key, KeyState state, KeyStep.Settings settings, long now) {
			KeyStep.Settings same = new KeyStep.Settings(settings.reservation(), settings.silence(),
					ModelKey.this.pulse, settings.hears());
			return this.broken.isEmpty() ? super.begin(key, state, same, now)
					: new MutantStep(key, state, same, now, this.broken);
		}

		@Override
		protected Read read(String key) {
			return new Read(this.state, NOW, this);
		}

		@Override
		protected boolean write(String key, Read before, KeyState after) {
			this.state = after;
			return true;
		}

		@Override
		protected void send(ReleaseNotification notification) {
			this.sends.accept(notification);
		}

		@Override
		protected boolean hears(String instance) {
			return this.hears.test(instance);
		}

	}

}
