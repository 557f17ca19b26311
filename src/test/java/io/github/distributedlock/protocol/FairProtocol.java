package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.protocol.Tickets.Key;
import io.github.distributedlock.protocol.Tickets.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Which steps are possible for fair requests, and unfair ones beside them, if a command
 * and its answer are one step. Who polls in a JVM asks for itself; the answer, or a
 * message, may tell another one.
 *
 * @param jvms the JVM of each request
 * @param unfair the requests that are not fair, at most one in each JVM
 * @param hears whether wake-ups arrive at all
 * @param brief whether requests come more than a second apart, and each ends within one;
 * those that end in vain are made again
 * @param mostFaults how much can go wrong in a run
 * @param faults what can
 * @param broken the rule that is broken, if any
 */
record FairProtocol(List<Integer> jvms, Set<Integer> unfair, boolean hears, boolean brief, int mostFaults,
		Set<Fault> faults, @Nullable Rule broken) implements Model<Tickets> {

	/**
	 * What keeps the order, and all alive.
	 */
	enum Rule {

		/**
		 * A request registers its ticket before it queues up in its JVM.
		 */
		REGISTERS_FIRST,

		/**
		 * Nobody takes a free key while another ticket is older.
		 */
		NOBODY_BARGES,

		/**
		 * A ticket stays until its request has the key.
		 */
		TICKETS_STAY,

		/**
		 * Who finds the key free and may not take it reserves it for the oldest waiter.
		 */
		RESERVED_ANEW,

		/**
		 * That holds for a waiter that is not fair, too.
		 */
		RESERVED_ANEW_FOR_THE_UNFAIR,

		/**
		 * Who gives up passes on what is reserved for it.
		 */
		PASSED_ON,

		/**
		 * A wake-up is for the request with that ticket, wherever it stands in its JVM.
		 */
		WAKE_UPS_ARE_PERSONAL,

		/**
		 * The answer that the key is kept for another request of this JVM is a wake-up
		 * for that one.
		 */
		ANSWERS_WAKE,

		/**
		 * A wake-up for a request that has ended withdraws its ticket.
		 */
		ORPHANS_ARE_WITHDRAWN,

		/**
		 * The waiters of a JVM that is silent for a second do not count.
		 */
		THE_SILENT_ARE_DEAD,

		/**
		 * If all are silent, it was the server that stood still, and they are pardoned;
		 * but not those that have said nothing since the last time.
		 */
		PARDONED_ONCE,

		/**
		 * If somebody was heard of at a time that is yet to come, the server's clock was
		 * set back: all are pardoned from now on, instead of for as long as that.
		 */
		TIME_BEGINS_ANEW,

		/**
		 * They are pardoned then, and not taken to be dead.
		 */
		THE_FUTURE_IS_NO_SILENCE,

		/**
		 * Who asks, or gives the key back, lives.
		 */
		WHO_SPEAKS_LIVES,

		/**
		 * While one request of a JVM has the key, the next one polls.
		 */
		THE_NEXT_ONE_POLLS

	}

	/**
	 * One fair request for each number, which is its JVM.
	 */
	static FairProtocol jvms(Integer... jvms) {
		return new FairProtocol(List.of(jvms), Set.of(), true, false, 0, Set.of(), null);
	}

	FairProtocol unfair(int request) {
		return new FairProtocol(this.jvms, Set.of(request), this.hears, this.brief, this.mostFaults, this.faults,
				this.broken);
	}

	FairProtocol deaf() {
		return new FairProtocol(this.jvms, this.unfair, false, this.brief, this.mostFaults, this.faults, this.broken);
	}

	FairProtocol briefly() {
		return new FairProtocol(this.jvms, this.unfair, this.hears, true, this.mostFaults, this.faults, this.broken);
	}

	FairProtocol faults(int most, Fault... faults) {
		return new FairProtocol(this.jvms, this.unfair, this.hears, this.brief, most, Set.of(faults), this.broken);
	}

	FairProtocol without(Rule rule) {
		return new FairProtocol(this.jvms, this.unfair, this.hears, this.brief, this.mostFaults, this.faults, rule);
	}

	@Override
	public Tickets first() {
		return Tickets.of(this.jvms.size(), this.mostFaults);
	}

	@Override
	public boolean isOver(Tickets state) {
		return state.requests().stream().allMatch((phase) -> phase == Phase.ENDED);
	}

	@Override
	public List<Transition<Tickets>> transitions(Tickets state) {
		Transitions<Tickets> transitions = new Transitions<>(state, (state.faultsLeft() > 0) ? this.faults : Set.of(),
				Tickets::afterFault);
		for (int request = 0; request < this.jvms.size(); request++) {
			switch (state.phase(request)) {
				case IDLE -> begin(transitions, state, request);
				case WAITING -> waiting(transitions, state, request);
				case HOLDING -> holding(transitions, state, request);
				case ENDED -> cleanUp(transitions, state, request);
			}
		}
		state.messages().forEach((request) -> message(transitions, state, request));
		state.late().forEach((request) -> late(transitions, state, request));
		this.jvms.stream().distinct().forEach((jvm) -> jvm(transitions, state, jvm));
		if (this.brief && !state.requests().contains(Phase.WAITING)) {
			transitions.happensInTime("server", "hears nobody for a second",
					state.silent(this.jvms.stream().distinct().filter((jvm) -> !state.ahead().contains(jvm)).toList(),
							state.pardoned()));
		}
		if (!state.waiters().isEmpty()) {
			transitions.goesWrong(Fault.CLOCK_SET_BACK, "server", "is set back",
					state.silent(List.of(), state.pardoned())
						.ahead(state.waiters().stream().map(this::jvm).distinct().toList()));
		}
		expiry(transitions, state);
		return transitions.all();
	}

	private void begin(Transitions<Tickets> transitions, Tickets state, int request) {
		Tickets queued = state.in(request, Phase.WAITING);
		boolean isFirst = local(state, jvm(request)).noneMatch((other) -> state.phase(other) != Phase.ENDED);
		if (!holds(Rule.REGISTERS_FIRST) && !isFirst) {
			transitions.mayHappen(name(request), "queues up", queued);
			return;
		}
		transitions.mayHappen(name(request), "registers", ask(queued, request));
		transitions.goesWrong(Fault.LOST_ANSWER, name(request), "registers, unheard", askUnheard(queued, request));
		transitions.goesWrong(Fault.LATE_COMMAND, name(request), "registers, and the command does not come through",
				queued.late(Lists.with(queued.late(), request)));
	}

	private void waiting(Transitions<Tickets> transitions, Tickets state, int request) {
		if (polls(state, request)) {
			transitions.happensInTime(name(request), "polls", ask(state, request));
			transitions.goesWrong(Fault.LOST_ANSWER, name(request), "polls, unheard", askUnheard(state, request));
		}
		Tickets ended = state.in(request, Phase.ENDED);
		transitions.goesWrong(Fault.TIME_OUT, name(request), "gives up", withdraw(ended, request));
		if (this.brief) {
			transitions.happensInTime(name(request), "gives up for now",
					withdraw(state.in(request, Phase.IDLE), request));
		}
		transitions.goesWrong(Fault.LATE_COMMAND, name(request), "gives up, and cannot tell", ended);
	}

	private void holding(Transitions<Tickets> transitions, Tickets state, int request) {
		Tickets ended = state.in(request, Phase.ENDED);
		transitions.mayHappen(name(request), "releases", wakeNext(ended, request));
		transitions.goesWrong(Fault.LOST_LEASE, name(request), "sees its deadline pass", ended);
	}

	private void cleanUp(Transitions<Tickets> transitions, Tickets state, int request) {
		if (state.isOwnedBy(request) && isAlive(state, request)) {
			transitions.happensInTime(name(request), "is cleaned up after", wakeNext(state, request));
		}
	}

	private void message(Transitions<Tickets> transitions, Tickets state, int request) {
		Tickets arrived = state.messages(Lists.without(state.messages(), request));
		transitions.happens(name(request), "gets a wake-up", wakeUp(arrived, request));
		transitions.goesWrong(Fault.LOST_MESSAGE, name(request), "does not get a wake-up", arrived);
	}

	private Tickets wakeUp(Tickets state, int request) {
		if (state.phase(request) == Phase.ENDED) {
			return holds(Rule.ORPHANS_ARE_WITHDRAWN) ? withdraw(state, request) : state;
		}
		if (state.phase(request) != Phase.WAITING) {
			return state;
		}
		boolean personal = holds(Rule.WAKE_UPS_ARE_PERSONAL) || this.unfair.contains(request);
		return personal ? ask(state, request)
				: local(state, jvm(request)).filter((other) -> polls(state, other))
					.findFirst()
					.map((poller) -> ask(state, poller))
					.orElse(state);
	}

	private void late(Transitions<Tickets> transitions, Tickets state, int request) {
		Tickets arrived = state.late(Lists.without(state.late(), request));
		transitions.happens(name(request), "registers late", askUnheard(arrived, request));
		transitions.happens(name(request), "never registers", arrived);
	}

	private void jvm(Transitions<Tickets> transitions, Tickets state, int jvm) {
		boolean dead = state.dead().contains(jvm);
		Tickets silent = state.ahead().contains(jvm) ? state // As far as the server
																// knows.
				: state.silent(Lists.with(state.silent(), jvm), state.pardoned());
		boolean polls = !dead && requests(jvm).anyMatch((request) -> polls(state, request));
		if (polls) {
			transitions.goesWrong(Fault.SILENCE, "J" + jvm, "stands still for a second", silent);
		}
		else if (!this.brief && state.waiters().stream().anyMatch((waiter) -> jvm(waiter) == jvm)) {
			transitions.happensInTime("J" + jvm, "is not heard of for a second", silent);
		}
		if (!dead) {
			Tickets crashed = state.dead(jvm)
				.messages(state.messages().stream().filter((request) -> jvm(request) != jvm).toList());
			for (int request : requests(jvm).toList()) {
				crashed = crashed.in(request, Phase.ENDED);
			}
			transitions.goesWrong(Fault.CRASH, "J" + jvm, "dies", crashed);
		}
	}

	private void expiry(Transitions<Tickets> transitions, Tickets state) {
		Key key = state.key();
		if (key != null && state.phase(key.of()) != Phase.HOLDING) {
			Tickets expired = state.with(null, state.waiters());
			String what = key.reserved() ? "ends a reservation" : "ends a lease";
			boolean tooEarly = key.reserved() ? state.messages().contains(key.of())
					: state.phase(key.of()) == Phase.WAITING;
			if (tooEarly) {
				transitions.goesWrong(Fault.LOST_LEASE, "server", what + " early", expired);
			}
			else {
				transitions.happensInTime("server", what, expired);
			}
		}
	}

	/**
	 * {@code acquire.lua}.
	 */
	private Tickets ask(Tickets state, int request) {
		Tickets heard = alive(judged(state, request), request);
		boolean first = heard.waiters().isEmpty() || heard.waiters().get(0) == request || isUnfair(request)
				|| !holds(Rule.NOBODY_BARGES);
		if (heard.isOwnedBy(request) || heard.isReservedFor(request) || (heard.key() == null && first)) {
			return taken(heard, request);
		}
		Tickets registered = heard.with(heard.key(), Lists.with(heard.waiters(), request));
		boolean renews = holds(Rule.RESERVED_ANEW)
				&& (!isUnfair(registered.waiters().get(0)) || holds(Rule.RESERVED_ANEW_FOR_THE_UNFAIR));
		Tickets busy = (heard.key() == null && renews) ? wakeNext(registered, request) : registered;
		Key key = busy.key();
		boolean tells = holds(Rule.ANSWERS_WAKE) && key != null && jvm(key.of()) == jvm(request)
				&& state.phase(key.of()) != Phase.HOLDING;
		return tells ? busy.messages(Lists.with(busy.messages(), key.of())) : busy;
	}

	private Tickets askUnheard(Tickets state, int request) {
		Tickets asked = ask(state, request);
		return asked.in(request, state.phase(request)).messages(state.messages());
	}

	private Tickets taken(Tickets state, int request) {
		boolean overtakes = !isUnfair(request) && state.local()
			.stream()
			.takeWhile((other) -> other != request)
			.anyMatch((other) -> state.phase(other) == Phase.WAITING && !isUnfair(other));
		Tickets taken = state.with(new Key(request, false), Lists.without(state.waiters(), request))
			.in(request, Phase.HOLDING);
		return overtakes ? taken.outOfOrder() : taken;
	}

	/**
	 * {@code withdraw.lua}.
	 */
	private Tickets withdraw(Tickets state, int request) {
		Tickets withdrawn = state.with(state.key(), Lists.without(state.waiters(), request));
		boolean passesOn = (state.key() == null || state.isReservedFor(request)) && holds(Rule.PASSED_ON);
		return passesOn ? wakeNext(withdrawn, request) : withdrawn;
	}

	/**
	 * Reserves a key that is given back.
	 */
	private Tickets wakeNext(Tickets state, int speaker) {
		Tickets free = judged(state.with(null, state.waiters()), speaker);
		if (free.waiters().isEmpty()) {
			return free;
		}
		int next = free.waiters().get(0);
		boolean stays = !isUnfair(next) && holds(Rule.TICKETS_STAY);
		Tickets reserved = free.with(new Key(next, true), stays ? free.waiters() : Lists.without(free.waiters(), next));
		return (this.hears && isAlive(state, next)) ? reserved.messages(Lists.with(reserved.messages(), next))
				: reserved;
	}

	private Tickets alive(Tickets state, int request) {
		int jvm = jvm(request);
		return state.silent(Lists.without(state.silent(), jvm), Lists.without(state.pardoned(), jvm))
			.ahead(Lists.without(state.ahead(), jvm));
	}

	/**
	 * {@code removeDead} in {@code lib-waiters.lua}: without the waiters of JVMs that are
	 * taken to be dead.
	 */
	private Tickets judged(Tickets state, int speaker) {
		if (!holds(Rule.THE_SILENT_ARE_DEAD) || state.waiters().isEmpty()) {
			return state;
		}
		if (!state.ahead().isEmpty() && holds(Rule.TIME_BEGINS_ANEW)) {
			List<Integer> unheard = state.waiters().stream().map(this::jvm).distinct().toList();
			Tickets begun = state.ahead(List.of());
			return alive(holds(Rule.THE_FUTURE_IS_NO_SILENCE) ? begun.silent(List.of(), unheard)
					: without(begun, Lists.without(state.ahead(), jvm(speaker))), speaker);
		}
		boolean stoodStill = state.waiters().stream().allMatch((waiter) -> state.silent().contains(jvm(waiter)));
		Tickets spoken = holds(Rule.WHO_SPEAKS_LIVES) ? alive(state, speaker) : state;
		if (!stoodStill) {
			return without(spoken, spoken.silent());
		}
		return without(spoken, holds(Rule.PARDONED_ONCE) ? spoken.pardoned() : List.of()).silent(List.of(),
				spoken.silent());
	}

	private Tickets without(Tickets state, List<Integer> dead) {
		Key key = state.key();
		List<Integer> living = state.waiters()
			.stream()
			.filter((waiter) -> !dead.contains(jvm(waiter))
					|| (key != null && !key.reserved() && jvm(key.of()) == jvm(waiter)))
			.toList();
		return state.with(key, living);
	}

	/**
	 * Whether it has to ask of its own accord.
	 */
	private boolean polls(Tickets state, int request) {
		if (state.phase(request) != Phase.WAITING || isUnfair(request)) {
			return state.phase(request) == Phase.WAITING;
		}
		boolean rests = !holds(Rule.THE_NEXT_ONE_POLLS)
				&& local(state, jvm(request)).anyMatch((other) -> state.phase(other) == Phase.HOLDING);
		return !rests && local(state, jvm(request)).filter((other) -> state.phase(other) == Phase.WAITING)
			.findFirst()
			.filter((first) -> first == request)
			.isPresent();
	}

	private Stream<Integer> local(Tickets state, int jvm) {
		return state.local().stream().filter((request) -> jvm(request) == jvm && !isUnfair(request));
	}

	private Stream<Integer> requests(int jvm) {
		return IntStream.range(0, this.jvms.size()).boxed().filter((request) -> jvm(request) == jvm);
	}

	private boolean isAlive(Tickets state, int request) {
		return !state.dead().contains(jvm(request));
	}

	private boolean isUnfair(int request) {
		return this.unfair.contains(request);
	}

	private int jvm(int request) {
		return this.jvms.get(request);
	}

	private String name(int request) {
		return "J" + jvm(request) + ".t" + request;
	}

	private boolean holds(Rule rule) {
		return this.broken != rule;
	}

	@Override
	public String toString() {
		return "fair requests in JVMs " + this.jvms + (this.unfair.isEmpty() ? "" : ", unfair " + this.unfair)
				+ (this.hears ? "" : ", deaf") + (this.brief ? ", brief" : "")
				+ ((this.mostFaults > 0) ? ", at most " + this.mostFaults + " of " + this.faults : "")
				+ ((this.broken != null) ? ", without " + this.broken : "");
	}

}
