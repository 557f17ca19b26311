package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ModelKey;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is granted with a message, at one moment.
 *
 * @param key the key, as the server has it
 * @param fronts the requests in front of their queues
 * @param packets the packets under way, in any order
 * @param bypasses how often others got the key since the request of the first front has a
 * place, even if that place was lost; -1 if this is not counted
 * @param idle for how long nobody has had the lock though somebody waits, if everything
 * is in time
 * @param faultsLeft how much more may go wrong
 */
record Grants(ModelKey key, List<Front> fronts, Set<Packet> packets, int bypasses, int idle, int faultsLeft) {

	/**
	 * The front whose patience is watched.
	 */
	static final int WATCHED = 0;

	/**
	 * The number of the last registration that a request has sent, and of all before. No
	 * other than the last is ever accepted.
	 */
	private static final int LAST = 2;

	private static final int SUPERSEDED = 1;

	/**
	 * A registration that was sent. In place of a number, a registration says whether the
	 * request has sent no later one: no other is ever accepted.
	 *
	 * @param owner the token that is to own the key
	 * @param last whether this registration was sent last
	 */
	record Registration(Owner owner, boolean last) {

		static Registration of(String owner, long number) {
			return new Registration(Owner.of(owner), number == LAST);
		}

		int number() {
			return this.last ? LAST : SUPERSEDED;
		}

		private Registration superseded(int front) {
			return (this.last && this.owner.thread() == front) ? new Registration(this.owner, false) : this;
		}

		@Override
		public String toString() {
			return this.owner + (this.last ? "" : ", superseded");
		}

	}

	/**
	 * A packet on the way between a JVM and the server.
	 */
	sealed interface Packet {

		/**
		 * Returns the sender or the receiver.
		 */
		Owner owner();

		/**
		 * A registration or poll.
		 *
		 * @param registration the registration that is sent
		 * @param named the tokens that the command may take the key over from
		 * @param from the owner that gives the key back with this command, if any
		 */
		record Register(Registration registration, Set<Owner> named, @Nullable Owner from) implements Packet {

			@Override
			public Owner owner() {
				return this.registration.owner();
			}

		}

		/**
		 * The answer to a registration, for the front that waits for the answer.
		 */
		record Answer(Owner owner, boolean acquired) implements Packet {
		}

		/**
		 * @param tokens those from which the key is given back
		 */
		record Withdraw(Owner owner, Set<Owner> tokens) implements Packet {
		}

		/**
		 * A release that nobody waits for any more.
		 */
		record Release(Owner owner) implements Packet {
		}

		/**
		 * The message of a grant.
		 */
		record Granted(Registration registration) implements Packet {

			@Override
			public Owner owner() {
				return this.registration.owner();
			}

		}

		/**
		 * The message of a reservation.
		 *
		 * @param owner the waiter
		 */
		record Reserved(Owner owner) implements Packet {
		}

	}

	static Grants of(List<Integer> requests, boolean counts, int mostFaults) {
		return new Grants(ModelKey.FREE, requests.stream().map(Front::of).toList(), Set.of(), counts ? 0 : -1, 0,
				mostFaults);
	}

	Front front(int front) {
		return this.fronts.get(front);
	}

	boolean isOwnedBy(Owner owner) {
		return this.key.isOwnedBy(owner.token());
	}

	/**
	 * The server has carried out a command.
	 * @param waited whether the front that is watched had a place, and still has
	 */
	Grants key(ModelKey key, boolean waited) {
		Grants done = new Grants(key, this.fronts, this.packets, this.bypasses, this.idle, this.faultsLeft);
		Holder holder = key.holder();
		if (holder == null || holder.isReservation()) {
			return done;
		}
		if (Owner.of(holder.name()).thread() == WATCHED) {
			return done.bypasses(0);
		}
		boolean passes = (this.bypasses > 0 || waited) && !this.key.isOwnedBy(holder.name());
		return passes ? done.bypasses(Math.min(this.bypasses + 1, this.fronts.size())) : done;
	}

	/**
	 * The request of a front has ended: nobody passes that request by any more.
	 */
	Grants ended(int front) {
		return (front == WATCHED) ? bypasses(0) : this;
	}

	private Grants bypasses(int bypasses) {
		return new Grants(this.key, this.fronts, this.packets, (this.bypasses >= 0) ? bypasses : -1, this.idle,
				this.faultsLeft);
	}

	Grants front(int front, UnaryOperator<Front> changed) {
		return fronts(Lists.replaced(this.fronts, front, changed.apply(front(front))));
	}

	Grants fronts(List<Front> fronts) {
		return new Grants(this.key, fronts, this.packets, this.bypasses, this.idle, this.faultsLeft);
	}

	Grants with(Packet packet) {
		return packets(Sets.with(this.packets, packet));
	}

	Grants without(Packet packet) {
		return packets(Sets.without(this.packets, packet));
	}

	Grants packets(Set<Packet> packets) {
		return new Grants(this.key, this.fronts, packets, this.bypasses, this.idle, this.faultsLeft);
	}

	/**
	 * No registration that a front has sent up to now is the last one.
	 */
	Grants superseded(int front) {
		ModelKey renumbered = this.key.numbered((owner) -> Owner.of(owner).thread() == front, SUPERSEDED);
		return new Grants(renumbered, this.fronts, Sets.mapped(this.packets, (packet) -> superseded(packet, front)),
				this.bypasses, this.idle, this.faultsLeft);
	}

	private static Packet superseded(Packet packet, int front) {
		if (packet instanceof Packet.Register register) {
			return new Packet.Register(register.registration().superseded(front), register.named(), register.from());
		}
		return (packet instanceof Packet.Granted granted) ? new Packet.Granted(granted.registration().superseded(front))
				: packet;
	}

	/**
	 * Time passes, in which nobody is heard of that is dead.
	 * @param lagging the JVM whose clock stands still, -1 if none does
	 * @param idle for how long nobody has had the lock then
	 */
	Grants tick(List<Integer> jvms, int lagging, int idle) {
		List<Front> fronts = new ArrayList<>(this.fronts);
		for (int front = 0; front < fronts.size(); front++) {
			if (jvms.get(front) != lagging) {
				fronts.set(front, fronts.get(front).tick());
			}
		}
		ModelKey later = this.key.later(1)
			.silent((waiter) -> !front(jvms.indexOf(Owner.jvm(waiter.instance()))).isAlive(), false);
		return new Grants(later, List.copyOf(fronts), this.packets, this.bypasses, idle, this.faultsLeft);
	}

	Grants afterFault() {
		return new Grants(this.key, this.fronts, this.packets, this.bypasses, this.idle, this.faultsLeft - 1);
	}

}
