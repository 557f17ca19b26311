package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.protocol.Readers.Late;
import io.github.distributedlock.protocol.Readers.Phase;
import io.github.distributedlock.protocol.Readers.Value;
import io.github.distributedlock.protocol.Readers.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * Which steps are possible for readers, writers and those that share permits, if a
 * command and its answer are one step. The turn of a writer ends with its hold, also if
 * it goes on as a reader; that of the others ends as soon as they have the lock. Writers
 * of one JVM pass the key on as after a slice.
 *
 * @param jvms the JVM of each thread
 * @param kinds what each thread does with the lock
 * @param permits how many may have it with each thread that has permits
 * @param rounds how many times each thread asks for the lock
 * @param forEver a reader that never gives it back, so that writers give up, -1 if all do
 * @param mostFaults how much can go wrong in a run
 * @param faults what can
 * @param broken the rule that is broken, if any
 */
record SharedProtocol(List<Integer> jvms, List<Kind> kinds, List<Integer> permits, List<Integer> rounds, int forEver,
		int mostFaults, Set<Fault> faults, @Nullable SharedRule broken) implements Model<Readers> {

	/**
	 * What a thread does with the lock.
	 */
	enum Kind {

		READS, WRITES,

		/**
		 * Writes, and may then go on as a reader.
		 */
		DOWNGRADES,

		/**
		 * Has it together with some others.
		 */
		PERMITS;

		static Kind of(char letter) {
			return Stream.of(values()).filter((kind) -> kind.name().charAt(0) == letter).findFirst().orElseThrow();
		}

	}

	/**
	 * One thread for each name: {@code R}, {@code W}, {@code D} or {@code P}, for what it
	 * {@linkplain Kind does}, the number of its JVM, and how many permits there are.
	 */
	static SharedProtocol threads(String... threads) {
		return new SharedProtocol(Stream.of(threads).map((thread) -> thread.charAt(1) - '0').toList(),
				Stream.of(threads).map((thread) -> Kind.of(thread.charAt(0))).toList(),
				Stream.of(threads).map((thread) -> thread.charAt(thread.length() - 1) - '0').toList(),
				Collections.nCopies(threads.length, 1), -1, 0, Set.of(), null);
	}

	SharedProtocol rounds(Integer... rounds) {
		return new SharedProtocol(this.jvms, this.kinds, this.permits, List.of(rounds), this.forEver, this.mostFaults,
				this.faults, this.broken);
	}

	SharedProtocol forEver(int thread) {
		return new SharedProtocol(this.jvms, this.kinds, this.permits, this.rounds, thread, this.mostFaults,
				this.faults, this.broken);
	}

	SharedProtocol faults(int most, Fault... faults) {
		return new SharedProtocol(this.jvms, this.kinds, this.permits, this.rounds, this.forEver, most, Set.of(faults),
				this.broken);
	}

	SharedProtocol without(SharedRule rule) {
		return new SharedProtocol(this.jvms, this.kinds, this.permits, this.rounds, this.forEver, this.mostFaults,
				this.faults, rule);
	}

	@Override
	public Readers first() {
		return Readers.of(threads().map(this::most).toList(), this.mostFaults);
	}

	@Override
	public boolean isOver(Readers state) {
		return threads().allMatch((thread) -> state.phase(thread) == Phase.ENDED || thread == this.forEver);
	}

	@Override
	public List<Transition<Readers>> transitions(Readers state) {
		Transitions<Readers> transitions = new Transitions<>(state, (state.faultsLeft() > 0) ? this.faults : Set.of(),
				Readers::afterFault);
		threads().forEach((thread) -> {
			switch (state.phase(thread)) {
				case IDLE -> transitions.mayHappen(name(thread), "wants the lock", queued(state, thread));
				case QUEUED -> giveUp(transitions, state, thread);
				case ASKING -> ask(transitions, state, thread, false);
				case PARKED -> ask(transitions, state, thread, true);
				case HOLDING, DOWNGRADED -> holding(transitions, state, thread);
				case ENDED -> {
				}
			}
		});
		state.messages().forEach((waiter) -> message(transitions, state, waiter));
		state.late().forEach((late) -> late(transitions, state, late));
		state.cleanUps().forEach((owner) -> cleanUp(transitions, state, owner));
		state.waiters().forEach((waiter) -> silence(transitions, state, waiter));
		this.jvms.stream().distinct().forEach((jvm) -> crash(transitions, state, jvm));
		expiry(transitions, state);
		return transitions.all();
	}

	private Readers queued(Readers state, int thread) {
		Readers queued = state.local(Lists.with(state.local(), thread));
		return queued.in(thread,
				Integer.valueOf(thread).equals(first(queued, waiter(thread))) ? Phase.ASKING : Phase.QUEUED);
	}

	private void ask(Transitions<Readers> transitions, Readers state, int thread, boolean polls) {
		Readers asked = ask(state, thread);
		Readers unheard = state.in(thread, Phase.ASKING);
		if (polls) {
			transitions.happensInTime(name(thread), "polls", asked);
		}
		else {
			transitions.happens(name(thread), "asks", asked);
			transitions.goesWrong(Fault.LATE_COMMAND, name(thread), "asks, and the command does not come through",
					unheard.late(Lists.with(unheard.late(), new Late(owner(state, thread), false))));
		}
		transitions.goesWrong(Fault.LOST_ANSWER, name(thread), "asks, unheard",
				unheard.with(asked.value()).waiters(asked.waiters()));
		giveUp(transitions, state, thread);
	}

	private void giveUp(Transitions<Readers> transitions, Readers state, int thread) {
		Readers left = left(cleanedUp(state, thread).ended(thread, this.rounds.get(thread)), thread);
		boolean last = first(left, waiter(thread)) == null && state.phase(thread) != Phase.QUEUED;
		Readers withdrawn = last ? withdraw(left, waiter(thread)) : left;
		if (this.forEver >= 0 && !reads(thread)) {
			transitions.happensInTime(name(thread), "gives up", withdrawn);
		}
		transitions.goesWrong(Fault.TIME_OUT, name(thread), "gives up", withdrawn);
		if (last) {
			transitions.goesWrong(Fault.LATE_COMMAND, name(thread), "gives up, and cannot tell", left);
		}
	}

	private void holding(Transitions<Readers> transitions, Readers state, int thread) {
		Owner owner = owner(state, thread);
		boolean writes = most(thread) == 1;
		boolean alone = writes && state.phase(thread) == Phase.HOLDING;
		if (alone && this.kinds.get(thread) == Kind.DOWNGRADES) {
			goOnAsReader(transitions, state, thread);
		}
		Readers ended = left(cleanedUp(state, thread).ended(thread, this.rounds.get(thread)), thread);
		if (thread != this.forEver) {
			boolean passes = alone || (writes && !holds(SharedRule.DOWNGRADED_KEYS_ARE_NOT_PASSED_ON));
			Integer next = passes ? first(ended, waiter(thread)) : null;
			Readers repeated = ended.cleanUps(Lists.with(ended.cleanUps(), owner));
			transitions.mayHappen(name(thread), "releases", release(ended, owner));
			if (next != null) {
				transitions.mayHappen(name(thread), "passes the key on", pass(ended, next));
			}
			transitions.goesWrong(Fault.LOST_ANSWER, name(thread), "releases, unheard", release(repeated, owner));
			transitions.goesWrong(Fault.LATE_COMMAND, name(thread), "releases, and cannot tell", repeated);
		}
		transitions.goesWrong(Fault.LOST_LEASE, name(thread), "sees its deadline pass", ended);
	}

	private void goOnAsReader(Transitions<Readers> transitions, Readers state, int thread) {
		Owner owner = owner(state, thread);
		Readers reading = state.in(thread, Phase.DOWNGRADED);
		Readers unheard = holds(SharedRule.DOWNGRADED_BEFORE_IT_IS_SENT) ? reading : state;
		transitions.mayHappen(name(thread), "goes on as a reader", downgrade(reading, owner));
		transitions.goesWrong(Fault.LOST_ANSWER, name(thread), "goes on as a reader, unheard",
				downgrade(unheard, owner));
		transitions.goesWrong(Fault.LATE_COMMAND, name(thread), "goes on as a reader, and cannot tell",
				unheard.late(Lists.with(unheard.late(), new Late(owner, true))));
	}

	/**
	 * If a command of the request may still be carried out, or was unheard.
	 */
	private Readers cleanedUp(Readers state, int thread) {
		Owner owner = owner(state, thread);
		boolean unsettled = state.late().contains(new Late(owner, false))
				|| (state.phase(thread) != Phase.HOLDING && state.value().isOwnedBy(owner));
		return unsettled ? state.cleanUps(Lists.with(state.cleanUps(), owner)) : state;
	}

	private Readers left(Readers state, int thread) {
		Readers left = state.local(Lists.without(state.local(), thread));
		Integer next = first(left, waiter(thread));
		return (next != null && left.phase(next) == Phase.QUEUED)
				? left.in(next, holds(SharedRule.NEXT_ASKS_AT_ONCE) ? Phase.ASKING : Phase.PARKED) : left;
	}

	private void message(Transitions<Readers> transitions, Readers state, Waiter waiter) {
		Readers arrived = state.messages(Lists.without(state.messages(), waiter));
		Integer first = first(state, waiter);
		transitions.happens(waiter, "gets a wake-up", (first == null) ? withdraw(arrived, waiter)
				: (state.phase(first) == Phase.PARKED) ? arrived.in(first, Phase.ASKING) : arrived);
		transitions.goesWrong(Fault.LOST_MESSAGE, waiter, "does not get a wake-up", arrived);
	}

	private void late(Transitions<Readers> transitions, Readers state, Late late) {
		Readers arrived = state.late(Lists.without(state.late(), late));
		Owner owner = late.owner();
		transitions.happens(owner, late.downgrades() ? "shares late" : "asks late",
				late.downgrades() ? downgrade(arrived, owner) : ask(arrived, owner));
		transitions.happens(owner, late.downgrades() ? "never shares" : "never asks", arrived);
	}

	private void cleanUp(Transitions<Readers> transitions, Readers state, Owner owner) {
		Readers done = state.late().contains(new Late(owner, false)) ? state
				: state.cleanUps(Lists.without(state.cleanUps(), owner));
		transitions.happens(owner, "is cleaned up after", release(done, owner));
	}

	private void silence(Transitions<Readers> transitions, Readers state, Waiter waiter) {
		boolean each = holds(SharedRule.LIVENESS_OF_EACH_KIND);
		boolean polls = threads()
			.anyMatch((thread) -> (each ? waiter(thread).equals(waiter) : waiter(thread).jvm() == waiter.jvm())
					&& polls(state, waiter(thread)));
		if (!polls && holds(SharedRule.THE_SILENT_ARE_DEAD)) {
			transitions.happensInTime(waiter, "is not heard of for a second",
					state.waiters(Lists.without(state.waiters(), waiter)));
		}
	}

	private void crash(Transitions<Readers> transitions, Readers state, int jvm) {
		if (state.dead().contains(jvm)) {
			return;
		}
		Readers crashed = state.dead(jvm)
			.local(state.local().stream().filter((thread) -> this.jvms.get(thread) != jvm).toList())
			.messages(state.messages().stream().filter((waiter) -> waiter.jvm() != jvm).toList())
			.cleanUps(state.cleanUps().stream().filter((owner) -> owner.jvm() != jvm).toList());
		for (int thread : threads().filter((one) -> this.jvms.get(one) == jvm).toList()) {
			crashed = crashed.ended(thread, 0);
		}
		transitions.goesWrong(Fault.CRASH, "J" + jvm, "dies", crashed);
	}

	private void expiry(Transitions<Readers> transitions, Readers state) {
		Value value = state.value();
		if (value.writer() != null) {
			ends(transitions, state, value.writer(), Value.FREE);
		}
		value.readers()
			.forEach((reader) -> ends(transitions, state, reader,
					value.readers(Lists.without(value.readers(), reader))));
		if (value.reserved() >= 0) {
			lapses(transitions, state, new Waiter(value.reserved(), 1), Value.FREE);
		}
		value.kept()
			.forEach((waiter) -> lapses(transitions, state, waiter, value.kept(Lists.without(value.kept(), waiter))));
	}

	private void ends(Transitions<Readers> transitions, Readers state, Owner owner, Value value) {
		boolean current = owner(state, owner.thread()).equals(owner);
		if (current && state.phase(owner.thread()).waits()) {
			transitions.goesWrong(Fault.LOST_LEASE, owner, "was granted the lock unheard, and its lease ends",
					state.with(value));
		}
		else if (!current || !state.phase(owner.thread()).holds()) {
			transitions.happensInTime(owner, "has not released, and its lease ends", state.with(value));
		}
	}

	private void lapses(Transitions<Readers> transitions, Readers state, Waiter waiter, Value value) {
		Integer first = first(state, waiter);
		boolean comes = state.messages().contains(waiter) || (first != null && state.phase(first) == Phase.ASKING);
		if (comes) {
			transitions.goesWrong(Fault.LOST_LEASE, waiter, "is slow, and its reservation ends", state.with(value));
		}
		else {
			transitions.happensInTime(waiter, "does not come, and its reservation ends", state.with(value));
		}
	}

	/**
	 * {@code acquire.lua}, and what the request makes of the answer.
	 */
	private Readers ask(Readers state, int thread) {
		Owner owner = owner(state, thread);
		Readers asked = ask(state, owner);
		if (!asked.value().isOwnedBy(owner)) {
			return asked.in(thread, Phase.PARKED);
		}
		Readers holding = asked.in(thread, Phase.HOLDING);
		return (most(thread) != 1) ? left(holding, thread) : holding;
	}

	private Readers ask(Readers state, Owner owner) {
		int thread = owner.thread();
		Value value = state.value();
		Waiter waiter = waiter(thread);
		if (value.isOwnedBy(owner)) {
			return state.waiters(Lists.without(state.waiters(), waiter));
		}
		boolean free = value.isFree();
		if (!waiter.reads() && !waiter.writes()) {
			return askForPermit(state, owner);
		}
		if (waiter.reads()) {
			boolean others = !value.readers().isEmpty()
					|| (!value.kept().isEmpty() && holds(SharedRule.KEPT_PLACES_COUNT));
			boolean defers = state.hasWriterWaiting() && holds(SharedRule.READERS_DEFER_TO_WRITERS);
			return (free || value.kept().contains(waiter) || (others && !defers && joins(value, waiter)))
					? state.granted(thread, value.readers(Lists.with(value.readers(), owner)), waiter)
					: state.registered(thread, waiter);
		}
		return (free || value.reserved() == waiter.jvm()) ? state.granted(thread, Value.ownedBy(owner), waiter)
				: state.registered(thread, waiter);
	}

	private Readers askForPermit(Readers state, Owner owner) {
		int thread = owner.thread();
		Waiter waiter = waiter(thread);
		List<Waiter> waiters = state.waiters();
		boolean defers = !waiters.isEmpty() && !waiters.get(0).equals(waiter)
				&& holds(SharedRule.PERMITS_DEFER_TO_ALL_WAITERS);
		boolean joins = joins(state.value(), waiter) && !defers;
		Readers asked = (joins || state.value().kept().contains(waiter)) ? state
				: letIn(state.registered(thread, waiter));
		Value value = asked.value();
		return (joins || value.kept().contains(waiter)) ? asked.granted(thread,
				value.readers(Lists.with(value.readers(), owner)).kept(Lists.without(value.kept(), waiter)), waiter)
				: asked;
	}

	/**
	 * Whether a waiter may have the lock together with those that have it now.
	 */
	private boolean joins(Value value, Waiter waiter) {
		if (value.isFree()) {
			return true;
		}
		boolean counts = waiter.most() > 1;
		List<Waiter> others = Stream
			.concat(value.readers().stream().map((owner) -> waiter(owner.thread())),
					holds(SharedRule.KEPT_PERMITS_COUNT) ? value.kept().stream() : Stream.of())
			.toList();
		boolean apart = holds(SharedRule.PERMITS_AND_READERS_ARE_APART)
				&& others.stream().anyMatch((other) -> (other.most() > 1) != counts);
		boolean own = holds(SharedRule.EACH_BY_ITS_OWN_PERMITS) || others.isEmpty();
		return value.isShared() && !apart && (!counts || others.size() < (own ? waiter : others.get(0)).most());
	}

	/**
	 * {@code downgrade.lua}.
	 */
	private Readers downgrade(Readers state, Owner owner) {
		if (!owner.equals(state.value().writer()) && holds(SharedRule.ONLY_OWNERS_DOWNGRADE)) {
			return state;
		}
		Readers shared = state.with(Value.FREE.readers(List.of(owner)));
		return holds(SharedRule.DOWNGRADES_LET_READERS_IN) ? letIn(shared) : shared;
	}

	/**
	 * {@code pass.lua} after the slice.
	 */
	private Readers pass(Readers state, int next) {
		Waiter own = waiter(next);
		Readers others = state.waiters(Lists.without(state.waiters(), own));
		boolean yields = others.waiters()
			.stream()
			.anyMatch((waiter) -> waiter.jvm() != own.jvm() || holds(SharedRule.YIELDS_TO_OWN_READERS));
		Readers given = yields ? wakeNext(others) : others.with(Value.FREE);
		Readers passed = ask(given, owner(given, next));
		return passed.in(next, yields ? Phase.PARKED : Phase.HOLDING);
	}

	/**
	 * {@code release.lua}.
	 */
	private Readers release(Readers state, Owner owner) {
		Value value = state.value();
		if (value.isFree() || owner.equals(value.writer())) {
			return wakeNext(state);
		}
		boolean owns = value.readers().contains(owner);
		if (!owns && (holds(SharedRule.ONLY_OWNERS_END_KEPT_PLACES) || !value.isShared())) {
			return state;
		}
		Value rest = value.readers(Lists.without(value.readers(), owner));
		return released(state, holds(SharedRule.RELEASE_ENDS_KEPT_PLACE)
				? rest.kept(Lists.without(rest.kept(), new Waiter(owner.jvm(), 0))) : rest);
	}

	private Readers released(Readers state, Value rest) {
		if (rest.isShared()) {
			return holds(SharedRule.EACH_PERMIT_WAKES) ? letIn(state.with(rest)) : state.with(rest);
		}
		return holds(SharedRule.LAST_READER_WAKES) ? wakeNext(state) : state.with(rest);
	}

	/**
	 * {@code withdraw.lua}.
	 */
	private Readers withdraw(Readers state, Waiter waiter) {
		Readers withdrawn = state.waiters(Lists.without(state.waiters(), waiter));
		Value value = state.value();
		if (value.isFree() || (waiter.writes() && value.reserved() == waiter.jvm())) {
			return wakeNext(withdrawn);
		}
		if (value.kept().contains(waiter)) {
			return holds(SharedRule.WITHDRAWAL_ENDS_KEPT_PLACE)
					? released(withdrawn, value.kept(Lists.without(value.kept(), waiter))) : withdrawn;
		}
		return (value.isShared() && holds(SharedRule.WITHDRAWING_WRITERS_LET_READERS_IN)) ? letIn(withdrawn)
				: withdrawn;
	}

	/**
	 * Reserves a key that is given back.
	 */
	private Readers wakeNext(Readers state) {
		Readers free = state.with(Value.FREE);
		if (free.waiters().isEmpty()) {
			return free;
		}
		Waiter next = free.waiters().get(0);
		return !next.writes() ? letIn(free) : told(free, next).with(Value.reservedFor(next.jvm()));
	}

	/**
	 * Keeps places for those at the head of the waiters that may have the lock together
	 * with those that have it now.
	 */
	private Readers letIn(Readers state) {
		Readers let = state;
		long most = holds(SharedRule.READERS_WAKE_TOGETHER) ? Long.MAX_VALUE : 1;
		for (Waiter waiter : state.waiters().stream().limit(most).toList()) {
			Value value = let.value();
			if (waiter.writes() || !joins(value, waiter)) {
				break;
			}
			let = told(let, waiter).with(value.kept(Stream.concat(value.kept().stream(), Stream.of(waiter))
				.distinct()
				.sorted(Comparator.comparing(Waiter::toString))
				.toList()));
		}
		return let;
	}

	private Readers told(Readers state, Waiter waiter) {
		Readers popped = state.waiters(Lists.without(state.waiters(), waiter));
		return state.dead().contains(waiter.jvm()) ? popped : popped.messages(Lists.with(popped.messages(), waiter));
	}

	private boolean polls(Readers state, Waiter waiter) {
		Integer first = first(state, waiter);
		return first != null && state.phase(first).waits();
	}

	private @Nullable Integer first(Readers state, Waiter waiter) {
		return state.local().stream().filter((thread) -> waiter(thread).equals(waiter)).findFirst().orElse(null);
	}

	private Stream<Integer> threads() {
		return IntStream.range(0, this.jvms.size()).boxed();
	}

	private int most(int thread) {
		return switch (this.kinds.get(thread)) {
			case READS -> 0;
			case WRITES, DOWNGRADES -> 1;
			case PERMITS -> this.permits.get(thread);
		};
	}

	private boolean reads(int thread) {
		return this.kinds.get(thread) == Kind.READS;
	}

	private Waiter waiter(int thread) {
		return new Waiter(this.jvms.get(thread), most(thread));
	}

	private Owner owner(Readers state, int thread) {
		return new Owner(this.jvms.get(thread), thread, state.threads().get(thread).round());
	}

	private String name(int thread) {
		return waiter(thread) + ".t" + thread;
	}

	private boolean holds(SharedRule rule) {
		return this.broken != rule;
	}

	@Override
	public String toString() {
		return threads().map((thread) -> this.kinds.get(thread) + " as " + name(thread)).toList() + " x " + this.rounds
				+ ((this.forEver >= 0) ? ", for ever t" + this.forEver : "")
				+ ((this.mostFaults > 0) ? ", at most " + this.mostFaults + " of " + this.faults : "")
				+ ((this.broken != null) ? ", without " + this.broken : "");
	}

}
