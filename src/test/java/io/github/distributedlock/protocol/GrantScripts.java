package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;

import io.github.distributedlock.protocol.Front.Phase;
import io.github.distributedlock.protocol.Grants.Key;
import io.github.distributedlock.protocol.Grants.Packet;
import io.github.distributedlock.protocol.Grants.Registration;
import org.jspecify.annotations.Nullable;

/**
 * What the server does with a command, in one step.
 *
 * @param setup what is explored
 * @param fault what goes wrong as it gives the key to a waiter: it has no memory left for
 * a grant; or has not heard of the waiter for a while, so that it reserves the key; or
 * does not count the waiter's subscription, which is at another server
 */
record GrantScripts(GrantSetup setup, @Nullable Fault fault) {

	/**
	 * {@code acquire.lua}, and {@code pass.lua} if the command comes from an owner. The
	 * key is the owner's afterwards, or it waits.
	 */
	Grants register(Grants state, Packet.Register command) {
		Owner owner = command.owner();
		Owner waiter = this.setup.waiterOf(owner);
		Owner from = command.from();
		Grants asked = state;
		if (from != null && state.isOwnedBy(from)) {
			asked = wakeNext(unregistered(state, waiter), from);
		}
		boolean isFree = asked.key() == null
				&& (!this.setup.isTicket(waiter) || asked.waiters().isEmpty() || asked.waiters().get(0).equals(waiter));
		if (isFree || asked.isReservedFor(waiter) || asked.isOwnedBy(owner) || takesOver(asked, command)) {
			return taken(asked, owner);
		}
		Grants registered = keepsPlace(asked, waiter).records(recorded(asked, command.registration()));
		if (registered.key() == null) {
			registered = wakeNext(registered, owner);
			if (registered.key() == null || registered.isReservedFor(waiter) || registered.isOwnedBy(owner)) {
				return taken(registered, owner);
			}
		}
		return registered;
	}

	private boolean takesOver(Grants state, Packet.Register command) {
		Key key = state.key();
		if (key == null || key.reserved()) {
			return false;
		}
		return command.named().contains(key.of())
				|| (!this.setup.holds(GrantRule.TAKEN_OVER_BY_NAME) && key.of().jvm() == command.owner().jvm());
	}

	private Grants taken(Grants state, Owner owner) {
		Grants taken = unregistered(state, this.setup.waiterOf(owner));
		Key key = state.key();
		boolean keepsTime = key != null && state.isOwnedBy(owner) && !this.setup.holds(GrantRule.FULL_LEASE_AGAIN);
		int lease = this.setup.holds(GrantRule.TAKEN_IN_FULL) ? this.setup.lease() : this.setup.granted();
		return taken.owned(owner, keepsTime ? key.left() : lease);
	}

	private Grants keepsPlace(Grants state, Owner waiter) {
		if (this.setup.holds(GrantRule.PLACES_STAY) || !state.waiters().contains(waiter)) {
			return state.registered(waiter);
		}
		return state.waiters(Lists.with(Lists.without(state.waiters(), waiter), waiter));
	}

	/**
	 * Whose scripts know of no grants does not touch the records.
	 */
	private Set<Registration> recorded(Grants state, Registration registration) {
		Owner owner = registration.owner();
		if (this.setup.mayBeGranted(owner)) {
			return Sets.with(withoutRecord(state, this.setup.waiterOf(owner)), registration);
		}
		return isOfBefore(owner) || !this.setup.holds(GrantRule.RECORD_IS_DROPPED) ? state.records()
				: withoutRecord(state, this.setup.waiterOf(owner));
	}

	/**
	 * {@code release.lua}.
	 */
	Grants release(Grants state, Owner owner) {
		Key key = state.key();
		boolean may = key == null || state.isOwnedBy(owner)
				|| (!key.reserved() && !this.setup.holds(GrantRule.OWNER_IS_COMPARED));
		return may ? wakeNext(state, owner) : state;
	}

	/**
	 * {@code renew.lua}.
	 */
	Grants renew(Grants state, Owner owner) {
		return state.isOwnedBy(owner) ? state.key(new Key(owner, false, this.setup.lease())) : state;
	}

	/**
	 * {@code withdraw.lua}.
	 */
	Grants withdraw(Grants state, Packet.Withdraw command) {
		Owner waiter = this.setup.waiterOf(command.owner());
		Grants withdrawn = unregistered(state, waiter);
		Key key = withdrawn.key();
		boolean may = key == null || withdrawn.isReservedFor(waiter) || (!key.reserved()
				&& this.setup.holds(GrantRule.WITHDRAWAL_NAMES_TOKEN) && command.tokens().contains(key.of()));
		return may ? wakeNext(withdrawn, command.owner()) : withdrawn;
	}

	/**
	 * The release of a token whose request has ended, and the end of its registration.
	 */
	Grants cleanUp(Grants state, Owner owner) {
		Owner waiter = this.setup.waiterOf(owner);
		Registration record = recordOf(state, waiter);
		boolean waits = record != null && record.owner().equals(owner)
				&& this.setup.holds(GrantRule.LATE_REGISTRATION_IS_REMOVED);
		return release(waits ? unregistered(state, waiter) : state, owner);
	}

	/**
	 * Gives a key that is free to the oldest waiter, with a message.
	 * @param by the owner in whose step that is done
	 */
	private Grants wakeNext(Grants state, Owner by) {
		Grants free = state.key(null);
		while (!free.waiters().isEmpty()) {
			Owner waiter = free.waiters().get(0);
			Registration record = (isOfBefore(by) || this.fault == Fault.SILENCE) ? null : recordOf(free, waiter);
			Phase phase = free.front(waiter.thread()).phase();
			boolean elsewhere = this.fault == Fault.SUBSCRIBED_ELSEWHERE;
			boolean deaf = (phase == Phase.DEAD || elsewhere) && this.setup.holds(GrantRule.THE_DEAF_ARE_PASSED_OVER);
			if (record != null && this.fault == Fault.REFUSED_COMMAND) {
				if (!this.setup.holds(GrantRule.SET_BEFORE_PUBLISH)) {
					return free.with(new Packet.Granted(record));
				}
				if (this.setup.holds(GrantRule.REFUSED_KEEPS_PLACE)) {
					return free;
				}
				free = unregistered(free, waiter);
				continue;
			}
			if (record != null && !deaf) {
				int lease = this.setup.holds(GrantRule.CLAIMED_LEASE) ? this.setup.granted() : GrantSetup.RESERVATION;
				Grants granted = unregistered(free, waiter).owned(record.owner(), lease);
				return told(granted, new Packet.Granted(record));
			}
			boolean isTicket = record == null && this.setup.isTicket(waiter);
			Grants others = (record != null) ? unregistered(free, waiter)
					: isTicket ? free : free.waiters(Lists.without(free.waiters(), waiter));
			if (!deaf || isTicket) {
				Key reserved = new Key(waiter, true, GrantSetup.RESERVATION);
				return told(others.key(reserved), new Packet.Reserved(waiter));
			}
			free = elsewhere ? toldElsewhere(others, waiter, record) : others;
		}
		return free;
	}

	/**
	 * A waiter hears by another server what this one has told nobody. A reservation that
	 * there is not makes it ask. Of a grant it must not hear before that is certain.
	 */
	private Grants toldElsewhere(Grants state, Owner waiter, @Nullable Registration record) {
		if (record == null) {
			return told(state, new Packet.Reserved(waiter));
		}
		return this.setup.holds(GrantRule.COUNTED_BEFORE_GRANT) ? state : told(state, new Packet.Granted(record));
	}

	private static Grants told(Grants state, Packet message) {
		return state.front(message.owner().thread()).isAlive() ? state.with(message) : state;
	}

	/**
	 * The record of an instance may stay. It counts only beside a place, and who makes a
	 * new one writes a record or drops it; so it is kept here only if that rule is
	 * broken.
	 */
	private Grants unregistered(Grants state, Owner waiter) {
		Grants others = state.waiters(Lists.without(state.waiters(), waiter));
		boolean drops = this.setup.isTicket(waiter) || this.setup.holds(GrantRule.RECORD_IS_DROPPED);
		return drops ? others.records(withoutRecord(state, waiter)) : others;
	}

	private Set<Registration> withoutRecord(Grants state, Owner waiter) {
		return Sets.filtered(state.records(), (record) -> !this.setup.waiterOf(record.owner()).equals(waiter));
	}

	private @Nullable Registration recordOf(Grants state, Owner waiter) {
		return state.records()
			.stream()
			.filter((record) -> this.setup.waiterOf(record.owner()).equals(waiter))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Whether its scripts know of no grants.
	 */
	private boolean isOfBefore(Owner owner) {
		return this.setup.reserving().contains(owner.thread());
	}

}
