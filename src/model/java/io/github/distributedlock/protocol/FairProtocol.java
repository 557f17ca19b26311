package io.github.distributedlock.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.protocol.Tickets.Phase;
import org.jspecify.annotations.Nullable;

/**
 * The possible steps of fair requests, and of unfair ones beside them, where a command
 * and the answer to it are one step. The request that polls in a JVM sends its own
 * ticket; the answer, or a message, may wake another request.
 *
 * @param jvms the JVM of each request
 * @param unfair the requests that are not fair, at most one in each JVM
 * @param hears whether wake-ups arrive at all
 * @param brief whether requests come more than a second apart, and each ends within one;
 * those that end in vain are made again
 * @param mostFaults how much can go wrong in a run
 * @param faults the kinds of faults
 * @param broken the rule that is broken, of JVMs or of the server, if any
 */
record FairProtocol(List<Integer> jvms, Set<Integer> unfair, boolean hears, boolean brief, int mostFaults,
		Set<Fault> faults, @Nullable Enum<?> broken) implements Model<Tickets> {

	private static final Duration LEASE = Duration.ofSeconds(10);

	/**
	 * The rules of JVMs that keep the order, and all alive.
	 */
	enum Rule {

		/**
		 * A request registers a ticket before joining the queue of the JVM.
		 */
		REGISTERS_FIRST,

		/**
		 * A wake-up is for the request with that ticket, wherever that request stands in
		 * the queue of the JVM.
		 */
		WAKE_UPS_ARE_PERSONAL,

		/**
		 * The answer that the key is kept for another request of this JVM is a wake-up
		 * for that one.
		 */
		ANSWERS_WAKE,

		/**
		 * A wake-up for a request that has ended withdraws the ticket.
		 */
		ORPHANS_ARE_WITHDRAWN,

		/**
		 * While one request of a JVM has the key, the next one polls.
		 */
		THE_NEXT_ONE_POLLS

	}

	/**
	 * One fair request for each number, which is the JVM of the request.
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

	FairProtocol without(Enum<?> rule) {
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
					state.with(state.key().silent((waiter) -> true, true)));
		}
		if (!state.key().waiters().isEmpty()) {
			transitions.goesWrong(Fault.CLOCK_SET_BACK, "server", "is set back", state.with(state.key().setBack()));
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
		transitions.mayHappen(name(request), "releases", release(ended, request));
		transitions.goesWrong(Fault.LOST_LEASE, name(request), "sees its deadline pass", ended);
	}

	private void cleanUp(Transitions<Tickets> transitions, Tickets state, int request) {
		if (isOwnedBy(state, request) && isAlive(state, jvm(request))) {
			transitions.happensInTime(name(request), "is cleaned up after", release(state, request));
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
		Tickets silent = state.with(state.key().silent((waiter) -> jvm(waiter) == jvm, true));
		boolean polls = !dead && requests(jvm).anyMatch((request) -> polls(state, request));
		if (IntStream.range(0, this.jvms.size())
			.anyMatch((other) -> jvm(other) != jvm && polls(state, other) && state.key().isPardoned(waiter(other)))) {
			silent = state; // Before a second is over, that one polls.
		}
		if (polls) {
			transitions.goesWrong(Fault.SILENCE, "J" + jvm, "stands still for a second", silent);
		}
		else if (!this.brief && state.key().waiters().stream().anyMatch((waiter) -> jvm(waiter) == jvm)) {
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
		Holder holder = state.key().holder();
		if (holder != null && state.phase(request(holder)) != Phase.HOLDING) {
			int request = request(holder);
			Tickets expired = state.with(state.key().later(LEASE.toMillis()));
			String what = holder.isReservation() ? "ends a reservation" : "ends a lease";
			boolean tooEarly = holder.isReservation() ? state.messages().contains(request)
					: state.phase(request) == Phase.WAITING;
			if (tooEarly) {
				transitions.goesWrong(Fault.LOST_LEASE, "server", what + " early", expired);
			}
			else {
				transitions.happensInTime("server", what, expired);
			}
		}
	}

	private Tickets ask(Tickets state, int request) {
		Claim claim = Claim.of(ModelKey.NAME, token(request), waiter(request), LEASE);
		Tickets asked = run(state, (server) -> server.acquireOrRegister(claim));
		if (isOwnedBy(asked, request)) {
			return taken(asked, request);
		}
		Holder holder = asked.key().holder();
		boolean tells = holds(Rule.ANSWERS_WAKE) && holder != null && jvm(request(holder)) == jvm(request)
				&& state.phase(request(holder)) != Phase.HOLDING;
		return tells ? asked.messages(Lists.with(asked.messages(), request(holder))) : asked;
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
		Tickets taken = state.in(request, Phase.HOLDING);
		return overtakes ? taken.outOfOrder() : taken;
	}

	private Tickets withdraw(Tickets state, int request) {
		return run(state, (server) -> server.withdraw(ModelKey.NAME, waiter(request), Set.of()));
	}

	private Tickets release(Tickets state, int request) {
		return run(state, (server) -> server.release(ModelKey.NAME, token(request)));
	}

	private Tickets run(Tickets state, Consumer<LockBackend> command) {
		Set<KeyRule> rules = (this.broken instanceof KeyRule rule) ? Set.of(rule) : Set.of();
		List<ReleaseNotification> sent = new ArrayList<>(1);
		Tickets done = state.with(state.key().after(rules, (instance) -> true, command, sent::add));
		for (ReleaseNotification notification : sent) {
			Waiter waiter = notification.waiter();
			boolean arrives = this.hears && isAlive(state, jvm(waiter));
			done = arrives ? done.messages(Lists.with(done.messages(), request(waiter))) : done;
		}
		return done;
	}

	/**
	 * Returns whether a request has to ask without a wake-up.
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

	private static boolean isAlive(Tickets state, int jvm) {
		return !state.dead().contains(jvm);
	}

	private boolean isOwnedBy(Tickets state, int request) {
		return state.key().isOwnedBy(token(request));
	}

	private String token(int request) {
		return new Owner(jvm(request), request, 0).token();
	}

	private Waiter waiter(int request) {
		String instance = Owner.instance(jvm(request));
		return isUnfair(request) ? Waiter.exclusive(instance) : Waiter.fair(instance, token(request));
	}

	private int request(Waiter waiter) {
		String ticket = waiter.ticket();
		return (ticket != null) ? Owner.of(ticket).thread() : unfair(waiter.instance());
	}

	private int request(Holder holder) {
		return holder.name().contains(":") ? Owner.of(holder.name()).thread() : unfair(holder.name());
	}

	private int unfair(String instance) {
		return requests(Owner.jvm(instance)).filter(this::isUnfair).findFirst().orElseThrow();
	}

	private static int jvm(Waiter waiter) {
		return Owner.jvm(waiter.instance());
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
