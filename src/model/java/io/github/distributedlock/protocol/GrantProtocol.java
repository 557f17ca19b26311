package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.protocol.Front.Phase;
import io.github.distributedlock.protocol.Front.Tokens;
import io.github.distributedlock.protocol.Grants.Packet;
import io.github.distributedlock.protocol.Grants.Registration;
import org.jspecify.annotations.Nullable;

/**
 * The possible steps where a release makes the next waiter the owner, and sends a
 * message: the waiter then has the lock without asking again. The waiter's deadline
 * counts from the moment at which the granted registration was sent, and the server keeps
 * the key at least as long, because the grant came later. So clocks need not agree, only
 * run alike.
 * <p>
 * A release and the answer to the release take one step, and so does the answer to a
 * withdrawal. Registrations, their answers and messages may be under way for any time.
 */
final class GrantProtocol implements Model<Grants> {

	private final GrantSetup setup;

	private final GrantJvm jvm;

	private final GrantScripts scripts;

	/**
	 * The server under each fault of the server.
	 */
	private final Map<Fault, GrantScripts> faulty = new EnumMap<>(Fault.class);

	/**
	 * @param setup what is explored
	 */
	GrantProtocol(GrantSetup setup) {
		this.setup = setup;
		this.jvm = new GrantJvm(setup);
		this.scripts = new GrantScripts(setup, null);
		Stream.of(Fault.REFUSED_COMMAND, Fault.SILENCE, Fault.SUBSCRIBED_ELSEWHERE)
			.filter(setup.faults()::contains)
			.forEach((fault) -> this.faulty.put(fault, new GrantScripts(setup, fault)));
	}

	@Override
	public Grants first() {
		return Grants.of(this.setup.requests(), this.setup.timely(), this.setup.mostFaults());
	}

	@Override
	public boolean isOver(Grants state) {
		return state.fronts().stream().allMatch(Front::isOver);
	}

	@Override
	public List<Transition<Grants>> transitions(Grants state) {
		Steps steps = new Steps(state);
		for (int number = 0; number < state.fronts().size(); number++) {
			Front front = state.front(number);
			switch (front.phase()) {
				case IDLE -> begin(steps, number);
				case ASKING -> asking(steps, number);
				case WAITING -> waiting(steps, number);
				case HOLDING -> holding(steps, number);
				case WITHDRAWING -> withdrawing(steps, number);
				case DEAD, DEAD_UNSEEN -> {
				}
			}
			for (Owner unclean : front.tokens().unclean()) {
				cleanUp(steps, unclean);
			}
		}
		state.packets().forEach((packet) -> arrive(steps, packet));
		this.setup.jvms().stream().distinct().forEach((jvm) -> crash(steps, jvm));
		time(steps);
		return steps.transitions.all();
	}

	private void begin(Steps steps, int number) {
		if (steps.state.front(number).requestsLeft() > 0) {
			steps.transitions.mayHappen(name(number), "registers",
					this.jvm.register(steps.state, number, Set.of(), null));
		}
	}

	private void asking(Steps steps, int number) {
		steps.transitions.goesWrong(Fault.LATE_COMMAND, name(number), "gets no answer to its registration",
				this.jvm.unanswered(steps.state, number));
	}

	private void waiting(Steps steps, int number) {
		Front front = steps.state.front(number);
		if (!this.setup.timely() || front.wakes() || front.timer() == 0) {
			steps.transitions.happens(name(number), "polls", this.jvm.poll(steps.state, number));
		}
		Owner owner = this.jvm.owner(steps.state, number);
		steps.transitions.goesWrong(Fault.TIME_OUT, name(number), "gives up",
				this.jvm.withdraw(steps.state, owner, GrantJvm.tokens(front, owner)));
		if (front.requestsLeft() > 0 && !this.setup.isTicket(owner)) {
			steps.transitions.goesWrong(Fault.TIME_OUT, name(number), "gives up, and the next thread registers",
					this.jvm.next(steps.state, number));
		}
	}

	private void holding(Steps steps, int number) {
		Front front = steps.state.front(number);
		Owner owner = this.jvm.owner(steps.state, number);
		if (front.left() == 0) {
			steps.transitions.happens(name(number), "sees its deadline pass",
					this.jvm.end(steps.state, number, Set.of()));
			return;
		}
		if (this.setup.isRenewalDue(front.left())) {
			steps.carriesOut(Transition.Kind.PROTOCOL, name(number), "renews",
					(scripts, state) -> scripts.renew(state, owner)
						.front(number, (holder) -> holder.left(this.setup.believed())));
		}
		if (front.timer() > 0) {
			return;
		}
		steps.carriesOut(Transition.Kind.PROTOCOL, name(number), "releases",
				(scripts, state) -> scripts.release(this.jvm.end(state, number, Set.of()), owner));
		steps.transitions.goesWrong(Fault.LATE_COMMAND, name(number), "gets no answer to its release",
				this.jvm.end(steps.state, number, Set.of(owner)).with(new Packet.Release(owner)));
		if (front.requestsLeft() > 0) {
			steps.transitions.happens(name(number), "gives the lock back and registers",
					this.jvm.register(this.jvm.end(steps.state, number, Set.of()), number, Set.of(owner), owner));
		}
	}

	private void withdrawing(Steps steps, int number) {
		Owner owner = this.jvm.owner(steps.state, number);
		Set<Owner> unclean = this.setup.holds(GrantRule.UNANSWERED_WITHDRAWAL_IS_CLEANED_UP)
				? GrantJvm.tokens(steps.state.front(number), owner) : Set.of();
		steps.transitions.goesWrong(Fault.LATE_COMMAND, name(number), "gets no answer to its withdrawal",
				this.jvm.end(steps.state, number, unclean));
	}

	/**
	 * Repeats the clean-up until no registration of the token is under way.
	 */
	private void cleanUp(Steps steps, Owner owner) {
		steps.carriesOut(Transition.Kind.PROTOCOL, name(owner.thread()), "cleans up after " + owner,
				(scripts, state) -> {
					Grants cleaned = scripts.cleanUp(state, owner);
					return isUnderWay(cleaned, owner) ? cleaned
							: cleaned.front(owner.thread(), (front) -> front.with(front.tokens().cleaned(owner)));
				});
	}

	private static boolean isUnderWay(Grants state, Owner owner) {
		return state.packets()
			.stream()
			.anyMatch((packet) -> packet instanceof Packet.Register && packet.owner().equals(owner));
	}

	private void arrive(Steps steps, Packet packet) {
		Owner owner = packet.owner();
		Grants arrived = steps.state.without(packet);
		if (packet instanceof Packet.Register register) {
			arriveAtServer(steps, packet, isAwaited(steps.state, register), "registers",
					(scripts, state) -> answered(scripts.register(state, register), register));
		}
		else if (packet instanceof Packet.Withdraw withdraw) {
			arriveAtServer(steps, packet, isAwaited(steps.state, withdraw), "withdraws",
					(scripts, state) -> answered(scripts.withdraw(state, withdraw), withdraw));
		}
		else if (packet instanceof Packet.Release) {
			arriveAtServer(steps, packet, false, "releases", (scripts, state) -> scripts.release(state, owner));
		}
		else if (packet instanceof Packet.Answer answer) {
			steps.transitions.happens(name(owner.thread()), answer.acquired() ? "reads: acquired" : "reads: busy",
					this.jvm.read(arrived, answer));
		}
		else {
			boolean granted = packet instanceof Packet.Granted;
			Grants heard = (packet instanceof Packet.Granted message)
					? this.jvm.granted(arrived, message.registration()) : this.jvm.reserved(arrived, owner);
			String what = (granted ? "a grant to " : "a reservation for ") + owner;
			steps.transitions.happens(name(owner.thread()), "hears of " + what, heard);
			steps.transitions.goesWrong(Fault.REPEATED_MESSAGE, name(owner.thread()),
					"hears of " + what + ", and will again", heard.with(packet));
			steps.transitions.goesWrong(Fault.LOST_MESSAGE, name(owner.thread()), "never hears of " + what, arrived);
		}
	}

	private void arriveAtServer(Steps steps, Packet packet, boolean awaited, String what,
			BiFunction<GrantScripts, Grants, Grants> step) {
		Transition.Kind kind = awaited ? Transition.Kind.PROTOCOL : Transition.Kind.TIME;
		String when = awaited ? "" : " late";
		steps.carriesOut(kind, packet.owner(), what + when,
				(scripts, state) -> step.apply(scripts, state.without(packet)));
		if (!awaited) {
			steps.transitions.happensInTime(packet.owner(), "never " + what, steps.state.without(packet));
		}
	}

	private static boolean isAwaited(Grants state, Packet.Register register) {
		return register.registration().last() && state.front(register.owner().thread()).phase() == Phase.ASKING;
	}

	private static boolean isAwaited(Grants state, Packet.Withdraw withdraw) {
		return state.front(withdraw.owner().thread()).phase() == Phase.WITHDRAWING;
	}

	private Grants answered(Grants state, Packet.Register register) {
		return isAwaited(state, register)
				? state.with(new Packet.Answer(register.owner(), state.isOwnedBy(register.owner()))) : state;
	}

	private Grants answered(Grants state, Packet.Withdraw withdraw) {
		return isAwaited(state, withdraw) ? this.jvm.end(state, withdraw.owner().thread(), Set.of()) : state;
	}

	/**
	 * If all is in time, the death of a holder, or of somebody whose command is under
	 * way, is left out: such a death costs a lease by right.
	 */
	private void crash(Steps steps, int jvm) {
		List<Front> dead = new ArrayList<>(steps.state.fronts());
		List<Front> unseen = new ArrayList<>(dead);
		boolean alive = true;
		Holder holder = steps.state.key().holder();
		boolean idle = (holder == null || Owner.jvm(Claim.instanceOf(holder.name())) != jvm) && steps.state.packets()
			.stream()
			.noneMatch((packet) -> packet.owner().jvm() == jvm && isCommand(packet));
		for (int number = 0; number < dead.size(); number++) {
			if (this.setup.jvms().get(number) == jvm) {
				Front front = dead.get(number);
				alive &= front.isAlive();
				idle &= front.phase() == Phase.WAITING && front.tokens().unclean().isEmpty();
				dead.set(number, front.dies(true));
				unseen.set(number, front.dies(false));
			}
		}
		if (alive && (idle || !this.setup.timely())) {
			Grants left = steps.state.packets(
					Sets.filtered(steps.state.packets(), (packet) -> packet.owner().jvm() != jvm || isCommand(packet)));
			steps.transitions.goesWrong(Fault.CRASH, "J" + jvm, "dies", left.fronts(dead));
			steps.transitions.goesWrong(Fault.UNSEEN_CRASH, "J" + jvm, "dies unseen", left.fronts(unseen));
		}
	}

	private static boolean isCommand(Packet packet) {
		return packet instanceof Packet.Register || packet instanceof Packet.Withdraw
				|| packet instanceof Packet.Release;
	}

	private void time(Steps steps) {
		boolean busy = steps.transitions.all()
			.stream()
			.anyMatch((transition) -> transition.kind() == Transition.Kind.PROTOCOL);
		if (this.setup.timely() && busy) {
			return;
		}
		List<Front> fronts = steps.state.fronts();
		boolean idle = fronts.stream().noneMatch(Front::believes) && fronts.stream().anyMatch(Front::wants);
		int idleFor = (idle && this.setup.timely()) ? Math.min(steps.state.idle() + 1, this.setup.lease()) : 0;
		steps.transitions.happensInTime("time", "passes", steps.state.tick(this.setup.jvms(), -1, idleFor));
		this.setup.jvms()
			.stream()
			.distinct()
			.forEach((jvm) -> steps.transitions.goesWrong(Fault.CLOCK_DRIFT, "time",
					"passes, but not for the clock of J" + jvm, steps.state.tick(this.setup.jvms(), jvm, idleFor)));
	}

	private String name(int number) {
		return "J" + this.setup.jvms().get(number) + ".t" + number;
	}

	@Override
	public String toString() {
		return this.setup.toString();
	}

	/**
	 * The steps that are possible in a state.
	 */
	private final class Steps {

		private final Grants state;

		private final Transitions<Grants> transitions;

		private Steps(Grants state) {
			this.state = state;
			this.transitions = new Transitions<>(state,
					(state.faultsLeft() > 0) ? GrantProtocol.this.setup.faults() : Set.of(), Grants::afterFault);
		}

		/**
		 * The server carries out a command, and may fail to grant the key to a waiter.
		 */
		private void carriesOut(Transition.Kind kind, Object who, String what,
				BiFunction<GrantScripts, Grants, Grants> step) {
			Grants done = step.apply(GrantProtocol.this.scripts, this.state);
			if (kind == Transition.Kind.PROTOCOL) {
				this.transitions.happens(who, what, done);
			}
			else {
				this.transitions.happensInTime(who, what, done);
			}
			if (this.state.faultsLeft() > 0) {
				GrantProtocol.this.faulty.forEach((fault, scripts) -> {
					Grants otherwise = step.apply(scripts, this.state);
					if (!otherwise.equals(done)) {
						this.transitions.goesWrong(fault, who, what + ", and grants nothing", otherwise);
					}
				});
			}
		}

	}

}
