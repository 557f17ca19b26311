package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.protocol.Readers.Late;
import io.github.distributedlock.protocol.Readers.Phase;
import org.jspecify.annotations.Nullable;

/**
 * The possible steps of readers, writers and threads that share permits, where a command
 * and the answer to the command are one step. The turn of a writer ends with the hold,
 * also if the writer goes on as a reader; the turn of all others ends as soon as they
 * have the lock. Writers of one JVM pass the key on as after a slice.
 *
 * @param jvms the JVM of each thread
 * @param kinds the kind of request of each thread
 * @param permits how many may have the lock together with each thread that has permits
 * @param rounds how many times each thread asks for the lock
 * @param forEver a reader that never gives the lock back, so that writers give up, -1 if
 * all do
 * @param mostFaults how much can go wrong in a run
 * @param faults the kinds of faults
 * @param broken the rule that is broken, of JVMs or of the server, if any
 */
record SharedProtocol(List<Integer> jvms, List<Kind> kinds, List<Integer> permits, List<Integer> rounds, int forEver,
		int mostFaults, Set<Fault> faults, @Nullable Enum<?> broken) implements Model<Readers> {

	/**
	 * The kinds of use of the lock by a thread.
	 */
	enum Kind {

		READS, WRITES,

		/**
		 * Writes, and may then go on as a reader.
		 */
		DOWNGRADES,

		/**
		 * Has the lock together with some others.
		 */
		PERMITS;

		static Kind of(char letter) {
			return Stream.of(values()).filter((kind) -> kind.name().charAt(0) == letter).findFirst().orElseThrow();
		}

	}

	/**
	 * Returns a setup with one thread for each name: {@code R}, {@code W}, {@code D} or
	 * {@code P} for the {@linkplain Kind kind} of thread, the number of the JVM, and the
	 * number of permits.
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

	SharedProtocol without(Enum<?> rule) {
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
		state.key().waiters().forEach((waiter) -> silence(transitions, state, waiter));
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
		transitions.goesWrong(Fault.LOST_ANSWER, name(thread), "asks, unheard", unheard.with(asked.key()));
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
			boolean passes = alone || (writes && this.broken == KeyRule.DOWNGRADED_KEYS_ARE_NOT_PASSED_ON);
			Integer next = passes ? first(ended, waiter(thread)) : null;
			Readers repeated = ended.cleanUps(Lists.with(ended.cleanUps(), owner));
			transitions.mayHappen(name(thread), "releases", release(ended, owner));
			if (next != null) {
				transitions.mayHappen(name(thread), "passes the key on", pass(ended, owner, next));
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
				|| (state.phase(thread) != Phase.HOLDING && state.key().isOwnedBy(owner.token()));
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
		transitions.happens(name(waiter), "gets a wake-up", (first == null) ? withdraw(arrived, waiter)
				: (state.phase(first) == Phase.PARKED) ? arrived.in(first, Phase.ASKING) : arrived);
		transitions.goesWrong(Fault.LOST_MESSAGE, name(waiter), "does not get a wake-up", arrived);
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
		Integer first = first(state, waiter);
		if (first == null || !state.phase(first).waits()) {
			transitions.happensInTime(name(waiter), "is not heard of for a second",
					state.with(state.key().silent(waiter::equals, false)));
		}
	}

	private void crash(Transitions<Readers> transitions, Readers state, int jvm) {
		if (state.dead().contains(jvm)) {
			return;
		}
		Readers crashed = state.dead(jvm)
			.local(state.local().stream().filter((thread) -> this.jvms.get(thread) != jvm).toList())
			.messages(state.messages().stream().filter((waiter) -> jvm(waiter) != jvm).toList())
			.cleanUps(state.cleanUps().stream().filter((owner) -> owner.jvm() != jvm).toList());
		for (int thread : threads().filter((one) -> this.jvms.get(one) == jvm).toList()) {
			crashed = crashed.ended(thread, 0);
		}
		transitions.goesWrong(Fault.CRASH, "J" + jvm, "dies", crashed);
	}

	private void expiry(Transitions<Readers> transitions, Readers state) {
		state.key().owners().forEach((token) -> ends(transitions, state, Owner.of(token)));
		state.key().reservations().forEach((waiter) -> lapses(transitions, state, waiter));
	}

	private void ends(Transitions<Readers> transitions, Readers state, Owner owner) {
		Readers ended = state.with(state.key().without(owner.token()));
		boolean current = owner(state, owner.thread()).equals(owner);
		if (current && state.phase(owner.thread()).waits()) {
			transitions.goesWrong(Fault.LOST_LEASE, owner, "was granted the lock unheard, and its lease ends", ended);
		}
		else if (!current || !state.phase(owner.thread()).holds()) {
			transitions.happensInTime(owner, "has not released, and its lease ends", ended);
		}
	}

	private void lapses(Transitions<Readers> transitions, Readers state, Waiter waiter) {
		Readers ended = state.with(state.key().without(waiter));
		Integer first = first(state, waiter);
		boolean comes = state.messages().contains(waiter) || (first != null && state.phase(first) == Phase.ASKING);
		if (comes) {
			transitions.goesWrong(Fault.LOST_LEASE, name(waiter), "is slow, and its reservation ends", ended);
		}
		else {
			transitions.happensInTime(name(waiter), "does not come, and its reservation ends", ended);
		}
	}

	/**
	 * Asks for the lock, and makes of the answer what the request does.
	 */
	private Readers ask(Readers state, int thread) {
		Owner owner = owner(state, thread);
		Readers asked = ask(state, owner);
		if (!asked.key().isOwnedBy(owner.token())) {
			return asked.in(thread, Phase.PARKED);
		}
		Readers holding = asked.in(thread, Phase.HOLDING);
		return (most(thread) != 1) ? left(holding, thread) : holding;
	}

	private Readers ask(Readers state, Owner owner) {
		return asked(state, owner, (server) -> server.acquireOrRegister(claim(owner)));
	}

	/**
	 * Passes the key on after the slice.
	 */
	private Readers pass(Readers state, Owner from, int next) {
		Owner owner = owner(state, next);
		Readers passed = asked(state, owner, (server) -> server.pass(from.token(), claim(owner), true));
		return passed.in(next, passed.key().isOwnedBy(owner.token()) ? Phase.HOLDING : Phase.PARKED);
	}

	private Readers asked(Readers state, Owner owner, Consumer<LockBackend> command) {
		Readers asked = run(state, command);
		if (state.key().isOwnedBy(owner.token())) {
			return asked;
		}
		return asked.key().isOwnedBy(owner.token()) ? asked.granted(owner.thread()) : asked.registered(owner.thread());
	}

	private Readers downgrade(Readers state, Owner owner) {
		return run(state, (server) -> server.downgrade(ModelKey.NAME, owner.token()));
	}

	private Readers release(Readers state, Owner owner) {
		return run(state, (server) -> server.release(ModelKey.NAME, owner.token()));
	}

	private Readers withdraw(Readers state, Waiter waiter) {
		return run(state, (server) -> server.withdraw(ModelKey.NAME, waiter, Set.of()));
	}

	private Claim claim(Owner owner) {
		return Claim.of(ModelKey.NAME, owner.token(), waiter(owner.thread()), Duration.ofSeconds(10));
	}

	/**
	 * The server does not know who is dead, and reserves the key for them, too.
	 */
	private Readers run(Readers state, Consumer<LockBackend> command) {
		Set<KeyRule> rules = (this.broken instanceof KeyRule rule) ? Set.of(rule) : Set.of();
		List<ReleaseNotification> sent = new ArrayList<>(1);
		Readers done = state.with(state.key().after(rules, (instance) -> true, command, sent::add));
		for (ReleaseNotification notification : sent) {
			Waiter waiter = notification.waiter();
			done = done.dead().contains(jvm(waiter)) ? done : done.messages(Lists.with(done.messages(), waiter));
		}
		return done;
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
		String instance = Owner.instance(this.jvms.get(thread));
		return reads(thread) ? Waiter.shared(instance) : Waiter.permits(instance, most(thread));
	}

	private static int jvm(Waiter waiter) {
		return Owner.jvm(waiter.instance());
	}

	private static String name(Waiter waiter) {
		return (waiter.isShared() ? "shared:" : (waiter.permits() > 1) ? "permits:" + waiter.permits() + ":" : "")
				+ waiter.instance();
	}

	private Owner owner(Readers state, int thread) {
		return new Owner(this.jvms.get(thread), thread, state.threads().get(thread).round());
	}

	private String name(int thread) {
		return name(waiter(thread)) + ".t" + thread;
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
