package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;

/**
 * The memory of an observer who judges a run. No step depends on this memory.
 *
 * @param bypasses how often another JVM was granted the lock since the first JVM waits,
 * -1 if the first JVM does not wait
 * @param handOvers how often the key was handed on inside a JVM since the grant
 * @param reservations the steps that have reserved the key for JVMs that were dead
 * @param tokens how many fencing tokens were granted
 * @param granted the newest fencing token
 * @param used the newest fencing token with which somebody began to work
 * @param grantedInOrder whether each granted token was greater than all before
 * @param usedInOrder whether each used token was greater than all used before
 */
record GhostState(int bypasses, int handOvers, List<Reservation> reservations, int tokens, int granted, int used,
		boolean grantedInOrder, boolean usedInOrder) {

	/**
	 * The JVM whose patience is watched.
	 */
	static final int WATCHED = 0;

	GhostState registered(int jvm) {
		return (jvm == WATCHED && this.bypasses < 0) ? bypasses(0) : this;
	}

	GhostState withdrawn(int jvm) {
		return (jvm == WATCHED) ? bypasses(-1) : this;
	}

	GhostState lockGranted(int jvm, int cap) {
		GhostState granted = handOvers(0);
		if (jvm == WATCHED) {
			return granted.bypasses(-1);
		}
		return (this.bypasses >= 0) ? granted.bypasses(Math.min(this.bypasses + 1, cap)) : granted;
	}

	GhostState handedOn() {
		return handOvers(Math.min(this.handOvers, OwnedKey.SLICE) + 1);
	}

	GhostState reservedForADeadOne(Command step, int jvm) {
		List<Reservation> all = new ArrayList<>(this.reservations);
		all.add(new Reservation(step, jvm));
		return new GhostState(this.bypasses, this.handOvers, List.copyOf(all), this.tokens, this.granted, this.used,
				this.grantedInOrder, this.usedInOrder);
	}

	GhostState tokenGranted(int token) {
		return new GhostState(this.bypasses, this.handOvers, this.reservations, this.tokens + 1, token, this.used,
				this.grantedInOrder && token > this.granted, this.usedInOrder);
	}

	GhostState tokenUsed(int token) {
		return new GhostState(this.bypasses, this.handOvers, this.reservations, this.tokens, this.granted, token,
				this.grantedInOrder, this.usedInOrder && token > this.used);
	}

	private GhostState handOvers(int handOvers) {
		return new GhostState(this.bypasses, handOvers, this.reservations, this.tokens, this.granted, this.used,
				this.grantedInOrder, this.usedInOrder);
	}

	private GhostState bypasses(int bypasses) {
		return new GhostState(bypasses, this.handOvers, this.reservations, this.tokens, this.granted, this.used,
				this.grantedInOrder, this.usedInOrder);
	}

	/**
	 * The key was reserved for a JVM that was dead.
	 */
	record Reservation(Command step, int jvm) {
	}

}
