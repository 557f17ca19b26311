package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import org.jspecify.annotations.Nullable;

/**
 * The possible steps where a released key stays with its JVM, whose next request takes
 * the key without a command, until another JVM asks. Each command and the answer to it
 * are one step, and so is a grant. A recall may be under way for any time.
 *
 * @param requests how many requests each JVM has
 * @param timely whether time passes only when no other step is due
 * @param earlier the JVM of a version that neither keeps nor recalls, -1 if there is none
 * @param mostFaults how many things go wrong at most
 * @param faults the kinds of faults
 * @param broken the rule that is broken, if any
 */
record KeptProtocol(List<Integer> requests, boolean timely, int earlier, int mostFaults, Set<Fault> faults,
		@Nullable Enum<?> broken) implements Model<KeptProtocol.Kept> {

	/**
	 * In ticks: the lease of a key that is kept, that of a long use, the pause between
	 * two polls, and for how long an unused key is kept.
	 */
	static final int SHORT = 2;

	static final int FULL = 5;

	static final int POLL = 1;

	static final int KEEP = 3;

	/**
	 * The rules that make kept keys safe, and let others wait no longer than they must.
	 */
	enum Rule {

		/**
		 * A recalled key is given back once nobody uses it.
		 */
		RECALLED_IS_RELEASED,

		/**
		 * A key is not given back while in use.
		 */
		NOT_WHILE_USED,

		/**
		 * A recall that comes while the key is used is remembered.
		 */
		REMEMBERED_WHILE_USED,

		/**
		 * An owner that had to wait counts as recalled: others may have asked the owner
		 * before, and ask again only with their next poll.
		 */
		WHO_WAITED_IS_RECALLED,

		/**
		 * A recall is only for the owner that the recall names.
		 */
		NAMES_THE_OWNER,

		/**
		 * A request does not take a key whose lease is over.
		 */
		NOT_WHEN_OVER,

		/**
		 * A request that takes a kept key has what is left of the key's lease.
		 */
		WHAT_IS_LEFT,

		/**
		 * A key with a long lease is not kept.
		 */
		SHORT_WHILE_KEPT,

		/**
		 * A key that nobody recalls is given back, too.
		 */
		KEEP_TIME_ENDS,

		/**
		 * A key that is used again and again is given back, too.
		 */
		CONSTANT_USE_ENDS,

		/**
		 * A JVM that stops gives back all kept keys.
		 */
		STOP_RELEASES

	}

	enum Phase {

		IDLE, WAITING, USING, KEPT, STOPPED, DEAD

	}

	/**
	 * A JVM.
	 *
	 * @param number the number of the JVM's last owner token
	 * @param requests how many requests are to come
	 * @param recalled whether the present owner has heard a recall, or counts as recalled
	 * @param left what is left of the lease, as far as the JVM knows
	 * @param timer the time until the next poll, or for which the key is still kept
	 * @param age for how long the key has been here, as far as that matters
	 */
	record Jvm(Phase phase, int number, int requests, boolean recalled, int left, int timer, int age) {

		private Jvm to(Phase phase) {
			return new Jvm(phase, this.number, this.requests, false, 0, 0, 0);
		}

		private Jvm gets(boolean recalled) {
			return new Jvm(Phase.USING, this.number, this.requests, recalled, SHORT, 0, 0);
		}

		private Jvm waits(int timer) {
			return new Jvm(Phase.WAITING, this.number, this.requests, false, 0, timer, 0);
		}

		private Jvm uses(int left) {
			return new Jvm(Phase.USING, this.number, this.requests, this.recalled, left, 0, this.age);
		}

		private Jvm begins(int more) {
			return new Jvm(this.phase, this.number + more, this.requests - 1, this.recalled, this.left, 0, this.age);
		}

		private Jvm kept(int left, int timer) {
			return new Jvm(Phase.KEPT, this.number, this.requests, this.recalled, left, timer, this.age);
		}

		private Jvm hears() {
			return new Jvm(this.phase, this.number, this.requests, true, this.left, this.timer, this.age);
		}

		private Jvm tick() {
			return new Jvm(this.phase, this.number, this.requests, this.recalled, Math.max(0, this.left - 1),
					Math.max(0, this.timer - 1), (this.left > 0) ? Math.min(this.age + 1, KEEP) : 0);
		}

	}

	/**
	 * All at one moment.
	 *
	 * @param recalls the owners of recalls that are under way
	 * @param wanted the owners that another JVM has met
	 * @param waited for how long somebody has waited in vain
	 * @param inVain whether an owner has heard a recall of another one
	 */
	record Kept(ModelKey key, List<Jvm> jvms, Set<String> recalls, Set<String> wanted, int waited, boolean inVain,
			int faultsLeft) {

		private Kept with(int number, Jvm jvm) {
			return new Kept(this.key, Lists.replaced(this.jvms, number, jvm), this.recalls, this.wanted, this.waited,
					this.inVain, this.faultsLeft);
		}

		private Kept recalls(Set<String> recalls) {
			return new Kept(this.key, this.jvms, recalls, this.wanted, this.waited, this.inVain, this.faultsLeft);
		}

		private Kept met(String owner) {
			return new Kept(this.key, this.jvms, this.recalls, Sets.with(this.wanted, owner), this.waited, this.inVain,
					this.faultsLeft);
		}

		private Kept inVain(boolean inVain) {
			return new Kept(this.key, this.jvms, this.recalls, this.wanted, this.waited, this.inVain || inVain,
					this.faultsLeft);
		}

		private boolean believes(int number) {
			return this.jvms.get(number).phase() == Phase.USING && this.jvms.get(number).left() > 0;
		}

		private boolean anyIs(Phase phase) {
			return this.jvms.stream().anyMatch((jvm) -> jvm.phase() == phase);
		}

	}

	/**
	 * The properties that must hold in every state.
	 */
	enum Duty implements Property<Kept> {

		/**
		 * Only the owner uses a key.
		 */
		USERS_OWN,

		/**
		 * Nobody waits for time to pass while nobody uses the key.
		 */
		NO_LOST_WAKE_UP,

		/**
		 * No owner is recalled that nobody else has met.
		 */
		NOT_IN_VAIN,

		AT_MOST_A_POLL,

		/**
		 * Nobody waits for longer than a short lease and a poll.
		 */
		AT_MOST_A_SHORT_LEASE,

		/**
		 * Nobody waits for longer than a key may stay and then be kept, and a poll.
		 */
		AT_MOST_TWICE_THE_KEEP_TIME,

		RECOVERY;

		@Override
		public boolean isKept(Kept state, boolean quiet) {
			return switch (this) {
				case USERS_OWN -> IntStream.range(0, state.jvms().size())
					.allMatch((jvm) -> !state.believes(jvm) || state.key().isOwnedBy(token(state, jvm)));
				case NO_LOST_WAKE_UP -> !quiet || !state.anyIs(Phase.WAITING) || state.anyIs(Phase.USING);
				case NOT_IN_VAIN -> !state.inVain();
				case AT_MOST_A_POLL -> state.waited() <= POLL;
				case AT_MOST_A_SHORT_LEASE -> state.waited() <= SHORT + POLL;
				case AT_MOST_TWICE_THE_KEEP_TIME -> state.waited() <= 2 * KEEP + POLL;
				case RECOVERY -> true;
			};
		}

		@Override
		public boolean isRecovery() {
			return this == RECOVERY;
		}

	}

	static KeptProtocol requests(Integer... requests) {
		return new KeptProtocol(List.of(requests), true, -1, 0, Set.of(), null);
	}

	KeptProtocol atAnyTime() {
		return new KeptProtocol(this.requests, false, this.earlier, this.mostFaults, this.faults, this.broken);
	}

	KeptProtocol earlier(int jvm) {
		return new KeptProtocol(this.requests, this.timely, jvm, this.mostFaults, this.faults, this.broken);
	}

	KeptProtocol faults(int most, Fault... faults) {
		return new KeptProtocol(this.requests, this.timely, this.earlier, most, Set.of(faults), this.broken);
	}

	KeptProtocol without(Enum<?> rule) {
		return new KeptProtocol(this.requests, this.timely, this.earlier, this.mostFaults, this.faults, rule);
	}

	@Override
	public Kept first() {
		return new Kept(ModelKey.FREE,
				this.requests.stream().map((count) -> new Jvm(Phase.IDLE, 0, count, false, 0, 0, 0)).toList(), Set.of(),
				Set.of(), 0, false, this.mostFaults);
	}

	@Override
	public boolean isOver(Kept state) {
		return state.jvms()
			.stream()
			.allMatch((jvm) -> jvm.phase() == Phase.STOPPED || jvm.phase() == Phase.DEAD
					|| (jvm.phase() == Phase.IDLE && jvm.requests() == 0));
	}

	@Override
	public List<Transition<Kept>> transitions(Kept state) {
		Transitions<Kept> steps = new Transitions<>(state, (state.faultsLeft() > 0) ? this.faults : Set.of(),
				(to) -> new Kept(to.key, to.jvms, to.recalls, to.wanted, to.waited, to.inVain, to.faultsLeft - 1));
		for (int i = 0; i < state.jvms().size(); i++) {
			Jvm jvm = state.jvms().get(i);
			String name = Owner.instance(i);
			switch (jvm.phase()) {
				case IDLE -> {
					if (jvm.requests() > 0) {
						steps.mayHappen(name, "asks", ask(state.with(i, jvm.begins(1)), i));
					}
				}
				case WAITING -> {
					if (!this.timely || jvm.timer() == 0) {
						steps.happens(name, "polls", ask(state, i));
					}
				}
				case USING -> using(steps, state, i, jvm);
				case KEPT -> kept(steps, state, i, jvm);
				default -> {
				}
			}
		}
		for (String owner : state.recalls()) {
			Kept arrived = state.recalls(Sets.without(state.recalls(), owner));
			steps.happens(owner, "is recalled", recalled(arrived, owner));
			steps.goesWrong(Fault.LOST_MESSAGE, owner, "is not recalled", arrived);
			steps.goesWrong(Fault.REPEATED_MESSAGE, owner, "is recalled, and will be again", recalled(state, owner));
		}
		boolean quiet = steps.all().stream().noneMatch((step) -> step.kind() == Transition.Kind.PROTOCOL);
		if (!this.timely || quiet) {
			boolean waits = this.timely && state.anyIs(Phase.WAITING);
			steps.happensInTime("time", "passes",
					new Kept(state.key().later(1), state.jvms().stream().map(Jvm::tick).toList(), state.recalls(),
							state.wanted(), waits ? Math.min(state.waited() + 1, 2 * FULL) : 0, state.inVain(),
							state.faultsLeft()));
		}
		return steps.all();
	}

	private void using(Transitions<Kept> steps, Kept state, int number, Jvm jvm) {
		String name = Owner.instance(number);
		if (jvm.left() == 0) {
			steps.happens(name, "sees its deadline pass", state.with(number, jvm.to(Phase.IDLE)));
			return;
		}
		boolean keeps = number != this.earlier && (jvm.left() <= SHORT || !holds(Rule.SHORT_WHILE_KEPT))
				&& (jvm.age() < KEEP || !holds(Rule.CONSTANT_USE_ENDS));
		Kept kept = state.with(number, jvm.kept(jvm.left(), KEEP));
		if (keeps && (!jvm.recalled() || !holds(Rule.RECALLED_IS_RELEASED))) {
			steps.happens(name, "keeps the key", kept);
		}
		else {
			steps.happens(name, "releases the key", release(state, number, Phase.IDLE));
			if (keeps && !this.timely) {
				steps.mayHappen(name, "keeps the key for a moment, though it is recalled", kept);
			}
		}
		if (jvm.left() < FULL) {
			steps.mayHappen(name, "works on", renew(state, number, FULL, jvm.uses(FULL)));
		}
	}

	private void kept(Transitions<Kept> steps, Kept state, int number, Jvm jvm) {
		String name = Owner.instance(number);
		boolean over = jvm.left() == 0;
		if (jvm.requests() > 0 && (!over || !holds(Rule.NOT_WHEN_OVER))) {
			int left = holds(Rule.WHAT_IS_LEFT) ? Math.max(1, jvm.left()) : SHORT;
			steps.mayHappen(name, "takes what it has kept", state.with(number, jvm.begins(0).uses(left)));
		}
		if (over) {
			steps.happens(name, "has lost what it kept", state.with(number, jvm.to(Phase.IDLE)));
		}
		else if (jvm.left() < SHORT) {
			steps.happens(name, "renews what it keeps", renew(state, number, SHORT, jvm.kept(SHORT, jvm.timer())));
		}
		if ((jvm.recalled() && holds(Rule.RECALLED_IS_RELEASED)) || (jvm.timer() == 0 && holds(Rule.KEEP_TIME_ENDS))) {
			steps.happens(name, "gives back what it kept", release(state, number, Phase.IDLE));
		}
		steps.mayHappen(name, "stops", holds(Rule.STOP_RELEASES) ? release(state, number, Phase.STOPPED)
				: state.with(number, jvm.to(Phase.STOPPED)));
		steps.goesWrong(Fault.CRASH, name, "dies", state.with(number, jvm.to(Phase.DEAD)));
	}

	private Kept recalled(Kept state, String owner) {
		int number = Owner.jvm(Claim.instanceOf(owner));
		Jvm jvm = state.jvms().get(number);
		boolean own = token(state, number).equals(owner) || !holds(Rule.NAMES_THE_OWNER);
		if (own && jvm.phase() == Phase.USING && !holds(Rule.NOT_WHILE_USED)) {
			return release(state, number, Phase.IDLE).with(number, jvm);
		}
		boolean heard = jvm.phase() == Phase.KEPT || (jvm.phase() == Phase.USING && holds(Rule.REMEMBERED_WHILE_USED));
		if (!own || !heard) {
			return state;
		}
		return state.inVain(!state.wanted().contains(token(state, number))).with(number, jvm.hears());
	}

	private Kept ask(Kept state, int number) {
		Claim claim = Claim.of(ModelKey.NAME, token(state, number), Owner.instance(number), millis(SHORT)).number(1);
		AcquireResult[] answer = new AcquireResult[1];
		Kept asked = run(state, number, (server) -> answer[0] = server.acquireOrRegister(claim));
		Jvm jvm = asked.jvms().get(number);
		if (answer[0].acquired()) {
			return asked.with(number, gets(jvm));
		}
		return asked.met(answer[0].holder().name()).with(number, jvm.waits(this.timely ? POLL : 0));
	}

	private Jvm gets(Jvm jvm) {
		return jvm.gets(jvm.phase() == Phase.WAITING && holds(Rule.WHO_WAITED_IS_RECALLED));
	}

	private Kept release(Kept state, int number, Phase after) {
		String owner = token(state, number);
		return run(state.with(number, state.jvms().get(number).to(after)), number,
				(server) -> server.release(ModelKey.NAME, owner));
	}

	private Kept renew(Kept state, int number, int lease, Jvm renewed) {
		LockBackend.Renewal renewal = new LockBackend.Renewal(ModelKey.NAME, token(state, number), millis(lease),
				LockMode.EXCLUSIVE);
		boolean[] owned = new boolean[1];
		Kept after = run(state, number, (server) -> owned[0] = server.renew(List.of(renewal)).get(0));
		return after.with(number, owned[0] ? renewed : state.jvms().get(number).to(Phase.IDLE));
	}

	/**
	 * Carries out a command of a JVM. A JVM that is granted the key by this command has
	 * the key at once.
	 */
	private Kept run(Kept state, int by, Function<LockBackend, Object> command) {
		Set<KeyRule> without = EnumSet.noneOf(KeyRule.class);
		if (by == this.earlier) {
			without.add(KeyRule.BUSY_KEYS_ARE_RECALLED);
		}
		if (this.broken instanceof KeyRule rule) {
			without.add(rule);
		}
		List<ReleaseNotification> sent = new ArrayList<>(1);
		ModelKey key = state.key().after(without, (instance) -> true, command::apply, sent::add);
		Kept done = new Kept(key, state.jvms(), state.recalls(), state.wanted(), state.waited(), state.inVain(),
				state.faultsLeft());
		for (ReleaseNotification notification : sent) {
			String owner = notification.owner();
			int number = Owner.jvm(notification.waiter().instance());
			done = (notification.number() < 0) ? done.recalls(Sets.with(done.recalls(), String.valueOf(owner)))
					: done.with(number, gets(done.jvms().get(number)));
		}
		return done;
	}

	private boolean holds(Rule rule) {
		return this.broken != rule;
	}

	private static String token(Kept state, int number) {
		return Owner.instance(number) + ":" + state.jvms().get(number).number() + Claim.RECALLABLE;
	}

	private static Duration millis(int ticks) {
		return Duration.ofMillis(ticks);
	}

}
