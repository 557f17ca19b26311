package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of an exploration.
 *
 * @param threads how many threads each JVM has
 * @param requests how many times each thread asks for the lock
 * @param mostFaults how much can go wrong in a run
 * @param faults what can
 * @param plain whether steps take several commands
 * @param bestEffort whether the lock is compared by one command, and changed by the next
 * @param skipsTheDeaf whether a release sees that a waiter is dead, as on a standalone
 * server
 * @param fenced whether requests get fencing tokens
 * @param handsOn whether keys are handed on inside a JVM
 * @param mutant the rule that is broken, if any
 */
record Setup(List<Integer> threads, int requests, int mostFaults, Set<Fault> faults, boolean plain, boolean bestEffort,
		boolean skipsTheDeaf, boolean fenced, boolean handsOn, @Nullable Mutant mutant) {

	/**
	 * JVMs with so many threads each, one request for each thread, and nothing that goes
	 * wrong.
	 */
	static Setup threads(Integer... threads) {
		return new Setup(List.of(threads), 1, 0, Set.of(), false, false, true, false, false, null);
	}

	Setup requests(int requests) {
		return new Setup(this.threads, requests, this.mostFaults, this.faults, this.plain, this.bestEffort,
				this.skipsTheDeaf, this.fenced, this.handsOn, this.mutant);
	}

	/**
	 * At most so many faults in a run, of any of these kinds.
	 */
	Setup faults(int most, Fault first, Fault... others) {
		return faults(most, EnumSet.of(first, others));
	}

	Setup faults(int most, Set<Fault> faults) {
		return new Setup(this.threads, this.requests, most, faults, this.plain, this.bestEffort, this.skipsTheDeaf,
				this.fenced, this.handsOn, this.mutant);
	}

	Setup withoutLua() {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, true, false, this.skipsTheDeaf,
				this.fenced, this.handsOn, this.mutant);
	}

	/**
	 * Without Lua, and without anything that compares and sets in one command.
	 */
	Setup withBestEffort() {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, true, true, this.skipsTheDeaf,
				this.fenced, this.handsOn, this.mutant);
	}

	Setup inCluster() {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, this.plain, this.bestEffort, false,
				this.fenced, this.handsOn, this.mutant);
	}

	Setup withTokens() {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, this.plain, this.bestEffort,
				this.skipsTheDeaf, true, this.handsOn, this.mutant);
	}

	Setup handingOn() {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, this.plain, this.bestEffort,
				this.skipsTheDeaf, this.fenced, true, this.mutant);
	}

	Setup with(Mutant mutant) {
		return new Setup(this.threads, this.requests, this.mostFaults, this.faults, this.plain, this.bestEffort,
				this.skipsTheDeaf, this.fenced, this.handsOn, mutant);
	}

	/**
	 * The server's time at first.
	 */
	int clock() {
		return this.fenced ? 10 : 0;
	}

	boolean has(Mutant mutant) {
		return this.mutant == mutant;
	}

	@Override
	public String toString() {
		return "threads " + this.threads + " x " + this.requests + " requests"
				+ ((this.mostFaults > 0) ? ", at most " + this.mostFaults + " of " + this.faults : "")
				+ (this.bestEffort ? ", with best effort" : this.plain ? ", without Lua" : "")
				+ (this.skipsTheDeaf ? "" : ", in a cluster") + (this.fenced ? ", fenced" : "")
				+ (this.handsOn ? ", handing on" : "") + ((this.mutant != null) ? ", " + this.mutant : "");
	}

}
