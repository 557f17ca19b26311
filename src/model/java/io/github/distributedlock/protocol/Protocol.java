package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;

/**
 * Which steps are possible in a state. A change of one of these changes the model, too:
 *
 * <pre>
 * SET NX PX, RedisLockBackend.acquire                 Scripts.setIfAbsent
 * acquire.lua, pass.lua, release.lua, withdraw.lua    KeyStep, Scripts
 * PlainSteps, WaitingList, FencingCounter             PlainCommands, Places
 * PlainSteps.renew                                    RenewalProtocol
 * LocalQueue, LocalKey                                Jvm, Queue
 * KeyAcquisition                                      RequestTransitions.ask, .pause, .giveUp
 * Hold, Releaser, Leases, Watchdog                    RequestTransitions.granted, .holding
 * Ownership, HandOver                                 OwnedKey, RequestTransitions.inherit
 * Withdrawals                                         BackgroundTransitions.withdrawal
 * Sweeper                                             BackgroundTransitions.cleanUp
 * NotificationSubscription, NotificationRouter        BackgroundTransitions.messages
 * </pre>
 *
 * A command is sent and carried out in one step, and its answer read in another; one that
 * is under way for longer is a {@link Fault#LATE_COMMAND}. Time is no number: a lease
 * runs out on the server only after its holder's own deadline, and a renewal that comes
 * in time changes nothing, so renewals are left out; so are parked locks, which wake
 * nobody, and requests that do not wait, which are those that give up at once.
 */
final class Protocol implements Model<State> {

	private final Setup setup;

	private final RequestTransitions requests;

	private final BackgroundTransitions background;

	Protocol(Setup setup) {
		this.setup = setup;
		Scripts scripts = new Scripts(setup);
		PlainCommands plain = new PlainCommands(setup);
		this.requests = new RequestTransitions(setup, scripts, plain);
		this.background = new BackgroundTransitions(setup, scripts, plain);
	}

	@Override
	public State first() {
		return State.first(this.setup);
	}

	@Override
	public List<Transition<State>> transitions(State state) {
		Transitions<State> transitions = new Transitions<>(state,
				(state.faultsLeft() > 0) ? this.setup.faults() : Set.of(), State::afterFault);
		state.owners().forEach((owner) -> this.requests.add(transitions, state, owner));
		this.background.add(transitions, state);
		return transitions.all();
	}

	@Override
	public boolean isOver(State state) {
		return state.isOver();
	}

	@Override
	public String toString() {
		return this.setup.toString();
	}

}
