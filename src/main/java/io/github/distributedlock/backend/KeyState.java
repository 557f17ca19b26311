package io.github.distributedlock.backend;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Holder.State;
import org.jspecify.annotations.Nullable;

/**
 * All that a store keeps of one key: who has the key, who waits for the key, and the last
 * fencing token. {@link KeyStep} has the rules by which one state follows another.
 * <p>
 * A state is kept as two texts and two numbers. A person can read the texts:
 * {@code exclusive held by shop@a/1#f:7}, and
 * {@code exclusive shop@b/9#c since 2026-11-27T10:00:00Z heard 2026-11-27T10:00:01.5Z}.
 * Times are microseconds since 1970 by the clock of the store.
 * <p>
 * Immutable.
 *
 * @since 1.0
 */
public final class KeyState {

	/*
	 * Invariants: a key has no holder, or one exclusive holder, or holders that share it,
	 * or holders that have permits. An owner is one holder at most. A key with waiters
	 * becomes free only by time.
	 */

	/**
	 * The state of a key of which nothing is kept.
	 */
	public static final KeyState FREE = new KeyState(List.of(), List.of(), 0, Signs.NONE);

	/**
	 * The text for no holder or no waiter. Some databases take an empty text for a
	 * missing one.
	 */
	private static final String NOBODY = "-";

	private static final String SEPARATOR = "; ";

	static final String KIND = "(exclusive|fair|shared|permit-[1-9]\\d{0,8}) ";

	private static final Pattern HOLDER = Pattern
		.compile(KIND + "(held|reserved|expiring) (?:by|for) (\\S+)(?: until (\\S+))?");

	private static final Pattern PLACE = Pattern.compile(KIND + "(\\S+) since (\\S+) heard (\\S+)"
			+ "(?: claim ([1-9]\\d{0,17}) of (\\S+) for (\\d{1,15}) ms made (\\S+))?");

	private static final Pattern SIGNS = Pattern.compile("last heard (\\S+)(?: silence counts from (\\S+))?");

	/**
	 * Holders, in the order in which they came.
	 */
	final List<Held> holders;

	/**
	 * Waiters, oldest first.
	 */
	final List<Place> places;

	/**
	 * The last fencing token, 0 if there was none.
	 */
	final long token;

	final Signs signs;

	KeyState(List<Held> holders, List<Place> places, long token, Signs signs) {
		this.holders = holders;
		this.places = places;
		this.token = token;
		this.signs = signs;
	}

	/**
	 * Signs of life of all waiters together.
	 *
	 * @param lastHeard when a waiter asked last, including waiters that wait no more; 0
	 * if nobody waits
	 * @param pardon the time from which on the silence of waiters counts; 0 if silence
	 * always counts
	 */
	record Signs(long lastHeard, long pardon) {

		static final Signs NONE = new Signs(0, 0);

	}

	/**
	 * An owner or waiter in whose favour a key is busy.
	 *
	 * @param kind the waiter that the key is reserved for; for an owner, any waiter of
	 * the same kind
	 * @param state what the holder has
	 * @param name the owner token; for a reservation the instance, or the owner token of
	 * the fair request
	 * @param end when the lease ends
	 */
	record Held(Waiter kind, State state, String name, long end) {

		static Held owner(Waiter kind, String owner, long end) {
			return new Held(kind.isFair() ? Waiter.exclusive(kind.instance()) : kind, State.OWNER, owner, end);
		}

		static Held reservation(Waiter waiter, long end) {
			return new Held(waiter, State.RESERVATION, nameOf(waiter), end);
		}

		Held until(long end) {
			return new Held(this.kind, this.state, this.name, end);
		}

		boolean isOwnedBy(String owner) {
			return this.state == State.OWNER && this.name.equals(owner);
		}

		boolean isReservedFor(Waiter waiter) {
			return this.state == State.RESERVATION && this.kind.equals(waiter);
		}

		boolean isPermit() {
			return this.kind.permits() > 1;
		}

		boolean isExclusive() {
			return !joins(this.kind);
		}

		Holder holder() {
			return new Holder(this.name, this.state, this.kind.mode());
		}

	}

	/**
	 * The place of a waiter.
	 *
	 * @param waiter the waiter
	 * @param since when the waiter came
	 * @param heard when the waiter asked last; for a fair request, when any fair request
	 * of the same instance asked last
	 * @param bid the claim that may be granted, {@code null} if no claim may be granted
	 */
	record Place(Waiter waiter, long since, long heard, @Nullable Bid bid) {

		/**
		 * The parts of a waiter's claim that a grant needs.
		 *
		 * @param number the number of the claim
		 * @param owner the owner token of the claim
		 * @param lease for how long the key is granted, in microseconds
		 * @param time when the claim was made
		 */
		record Bid(long number, String owner, long lease, long time) {
		}

		Place heard(long time) {
			return new Place(this.waiter, this.since, time, this.bid);
		}

		boolean isWithin(long time, long now) {
			return now >= this.heard && now - this.heard < time;
		}

		/**
		 * Returns whether the place has a bid already that differs in its time only.
		 */
		boolean isFor(@Nullable Bid other) {
			Bid same = this.bid;
			return (same == null || other == null) ? same == other
					: same.number == other.number && same.lease == other.lease && same.owner.equals(other.owner);
		}

	}

	/**
	 * Reads a state.
	 * @param holders the text that {@link #holders()} returned
	 * @param end the time that {@link #end()} returned
	 * @param waiters the text that {@link #waiters()} returned
	 * @param fencingToken the token that {@link #fencingToken()} returned
	 * @return the state
	 * @throws IllegalArgumentException if this version never writes such a text; the
	 * message names the text
	 */
	public static KeyState of(String holders, long end, String waiters, long fencingToken) {
		List<Held> held = new ArrayList<>(1);
		for (String text : split(holders)) {
			held.add(readHolder(text, end));
		}
		List<Place> places = new ArrayList<>();
		Signs signs = Signs.NONE;
		for (String text : split(waiters)) {
			Matcher parts = SIGNS.matcher(text);
			if (parts.matches()) {
				signs = new Signs(time(parts.group(1)), (parts.group(2) != null) ? time(parts.group(2)) : 0);
			}
			else {
				places.add(readPlace(text));
			}
		}
		return new KeyState(List.copyOf(held), List.copyOf(places), fencingToken, signs);
	}

	private static String[] split(String text) {
		return text.equals(NOBODY) ? new String[0] : text.split(SEPARATOR, -1);
	}

	private static Held readHolder(String text, long end) {
		Matcher parts = HOLDER.matcher(text);
		if (!parts.matches()) {
			throw new IllegalArgumentException("'" + text + "' describes no holder of a lock");
		}
		State state = switch (parts.group(2)) {
			case "held" -> State.OWNER;
			case "reserved" -> State.RESERVATION;
			default -> State.EXPIRING;
		};
		String name = parts.group(3);
		String until = parts.group(4);
		return new Held(waiter(parts.group(1), name), state, name, (until != null) ? time(until) : end);
	}

	private static Place readPlace(String text) {
		Matcher parts = PLACE.matcher(text);
		if (!parts.matches()) {
			throw new IllegalArgumentException("'" + text + "' describes no waiter for a lock");
		}
		Waiter waiter = waiter(parts.group(1), parts.group(2));
		long since = time(parts.group(3));
		long heard = time(parts.group(4));
		Place.Bid bid = (parts.group(5) == null) ? null : new Place.Bid(Long.parseLong(parts.group(5)), parts.group(6),
				1_000 * Long.parseLong(parts.group(7)), time(parts.group(8)));
		return new Place(waiter, since, heard, bid);
	}

	static Waiter waiter(String kind, String name) {
		String instance = Claim.instanceOf(name);
		return switch (kind) {
			case "exclusive" -> Waiter.exclusive(instance);
			case "shared" -> Waiter.shared(instance);
			case "fair" -> Waiter.fair(instance, name);
			default -> Waiter.permits(instance, Integer.parseInt(kind.substring("permit-".length())));
		};
	}

	private static long time(String text) {
		try {
			Instant time = Instant.parse(text);
			return Math.addExact(Math.multiplyExact(time.getEpochSecond(), 1_000_000L), time.getNano() / 1_000);
		}
		catch (DateTimeParseException | ArithmeticException ex) {
			throw new IllegalArgumentException("'" + text + "' is no time", ex);
		}
	}

	/**
	 * Returns the text of the holders. A holder whose lease ends last has no time in the
	 * text: that time is the {@linkplain #end() end}.
	 * @return the text, never empty, without line breaks
	 */
	public String holders() {
		if (this.holders.isEmpty()) {
			return NOBODY;
		}
		long end = end();
		StringBuilder text = new StringBuilder(64);
		for (Held held : this.holders) {
			separate(text).append(kind(held.kind)).append(text(held.state)).append(held.name);
			if (held.end != end) {
				text.append(" until ").append(text(held.end));
			}
		}
		return text.toString();
	}

	/**
	 * Returns the text of the waiters.
	 * @return the text, never empty, without line breaks
	 */
	public String waiters() {
		if (this.places.isEmpty()) {
			return NOBODY;
		}
		StringBuilder text = new StringBuilder(128);
		for (Place place : this.places) {
			separate(text).append(kind(place.waiter)).append(' ').append(nameOf(place.waiter));
			text.append(" since ").append(text(place.since)).append(" heard ").append(text(place.heard));
			Place.Bid bid = place.bid;
			if (bid != null) {
				text.append(" claim ").append(bid.number).append(" of ").append(bid.owner);
				text.append(" for ").append(bid.lease / 1_000).append(" ms made ").append(text(bid.time));
			}
		}
		separate(text).append("last heard ").append(text(this.signs.lastHeard));
		if (this.signs.pardon > 0) {
			text.append(" silence counts from ").append(text(this.signs.pardon));
		}
		return text.toString();
	}

	/**
	 * Returns the text of a holder that has a key alone, so that a store can compare the
	 * text: the value of {@link #holders()} for such a key.
	 * @param owner the owner token
	 * @param state what the holder has: the key, or a lease that was left to expire
	 * @return the text
	 */
	public static String exclusiveHolder(String owner, State state) {
		return "exclusive" + text(state) + owner;
	}

	private static String text(State state) {
		return switch (state) {
			case OWNER -> " held by ";
			case RESERVATION -> " reserved for ";
			case EXPIRING -> " expiring by ";
		};
	}

	private static StringBuilder separate(StringBuilder text) {
		return text.isEmpty() ? text : text.append(SEPARATOR);
	}

	static String kind(Waiter waiter) {
		return waiter.isFair() ? "fair"
				: waiter.isShared() ? "shared" : (waiter.permits() > 1) ? "permit-" + waiter.permits() : "exclusive";
	}

	/**
	 * Returns whether a waiter would have the key together with others, as a reader or
	 * with a permit.
	 */
	static boolean joins(Waiter waiter) {
		return waiter.isShared() || waiter.permits() > 1;
	}

	static String nameOf(Waiter waiter) {
		String ticket = waiter.ticket();
		return (ticket != null) ? ticket : waiter.instance();
	}

	private static String text(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
	}

	/**
	 * Returns when the last lease ends. Then the key is free, unless a lease is renewed.
	 * @return the time in microseconds since 1970, 0 if the key has no holder
	 */
	public long end() {
		long end = 0;
		for (Held held : this.holders) {
			end = Math.max(end, held.end);
		}
		return end;
	}

	/**
	 * Returns the last fencing token.
	 * @return the token, 0 if there was none
	 */
	public long fencingToken() {
		return this.token;
	}

	/**
	 * Returns whether nothing is lost if the key is forgotten: the key is free, nobody
	 * waits, and any further fencing token is greater than the last one.
	 * @param now the time in microseconds since 1970
	 * @return {@code true} if the key may be forgotten
	 */
	public boolean isObsolete(long now) {
		return this.places.isEmpty() && end() <= now && this.token < now;
	}

	/**
	 * Returns whether a holder has come, or stays for longer, or a fencing token was
	 * given. A store must make such a step durable before anybody learns of the step. A
	 * crash may undo any other step, which costs the rest of a lease, or a place.
	 * @param before the state before
	 * @return {@code true} if the step has given something
	 */
	public boolean gives(KeyState before) {
		return this.token > before.token || this.holders.stream()
			.anyMatch((held) -> held.state != State.RESERVATION && before.holders.stream()
				.noneMatch((same) -> same.name.equals(held.name) && same.state == held.state && same.end >= held.end));
	}

	LockStatus describe(String key, long now) {
		return LockStatus.of(key,
				this.holders.stream()
					.filter((held) -> held.end > now)
					.map((held) -> held.holder()
						.describe(LockMode.EXCLUSIVE, Duration.of(held.end - now, ChronoUnit.MICROS))
						.permit(held.isPermit()))
					.toList(),
				this.places.stream().map((place) -> place.waiter.describe()).toList());
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return this == other || (other instanceof KeyState state && this.holders.equals(state.holders)
				&& this.places.equals(state.places) && this.token == state.token && this.signs.equals(state.signs));
	}

	@Override
	public int hashCode() {
		return this.holders.hashCode() + this.places.hashCode();
	}

	@Override
	public String toString() {
		return String.format(Locale.ROOT, "KeyState[holders=%s, end=%s, waiters=%s, fencingToken=%d]", holders(),
				text(end()), waiters(), this.token);
	}

}
