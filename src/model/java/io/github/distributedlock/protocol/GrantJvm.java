package io.github.distributedlock.protocol;

import java.util.Set;

import io.github.distributedlock.protocol.Front.Phase;
import io.github.distributedlock.protocol.Front.Tokens;
import io.github.distributedlock.protocol.Grants.Packet;
import io.github.distributedlock.protocol.Grants.Registration;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a JVM: the commands that it sends, and what answers and messages change.
 *
 * @param setup the setup that is explored
 */
record GrantJvm(GrantSetup setup) {

	/**
	 * The next request of a front sends a registration.
	 * @param from the owner that gives the key back with this registration, if any
	 */
	Grants register(Grants state, int number, Set<Owner> named, @Nullable Owner from) {
		Grants sent = state.superseded(number).front(number, (front) -> front.begins(this.setup.believed(), named));
		Owner owner = owner(sent, number);
		return sent.with(new Packet.Register(new Registration(owner, true), named, from));
	}

	Grants poll(Grants state, int number) {
		Grants sent = state.superseded(number).front(number, (front) -> front.polls(this.setup.believed()));
		return sent.with(new Packet.Register(new Registration(owner(sent, number), true),
				sent.front(number).tokens().named(), null));
	}

	/**
	 * The next thread takes over the place. A ticket has a place that no other request
	 * takes over, and withdraws.
	 */
	Grants next(Grants state, int number) {
		Owner owner = owner(state, number);
		Front front = state.front(number);
		if (!holds(GrantRule.TIME_OF_THE_TOKEN)) {
			return state.front(number, (before) -> before.left(this.setup.believed()));
		}
		if (!holds(GrantRule.TOKEN_OF_ITS_OWN)) {
			return unclean(state, number, Set.of(owner));
		}
		Set<Owner> named = holds(GrantRule.PREDECESSOR_IS_NAMED) ? tokens(front, owner) : Set.of();
		return register(end(state, number, Set.of()), number, named, null);
	}

	/**
	 * The front waits no longer for the answer to the registration. The message that came
	 * before is proof enough.
	 */
	Grants unanswered(Grants state, int number) {
		Owner owner = owner(state, number);
		Front front = state.front(number);
		Grants unanswered = state.packets(Sets.filtered(state.packets(), (packet) -> !isAnswerTo(packet, owner)))
			.front(number, (before) -> wake(before.waitsUnanswered()));
		if (!holds(GrantRule.CLEAN_UP_AFTER_REQUEST)) {
			unanswered = unclean(unanswered, number, Set.of(owner));
		}
		return (front.heard() && isAcceptable(front)) ? accepted(unanswered, number) : unanswered;
	}

	private static boolean isAnswerTo(Packet packet, Owner owner) {
		return packet instanceof Packet.Answer && packet.owner().equals(owner);
	}

	Grants read(Grants state, Packet.Answer answer) {
		int number = answer.owner().thread();
		Front front = state.front(number);
		Grants read = holds(GrantRule.DEADLINE_BEFORE_ANSWER) ? state
				: state.front(number, (before) -> before.left(this.setup.believed()));
		if (!answer.acquired() && front.heard()) {
			return isAcceptable(read.front(number)) ? accepted(read, number)
					: read.front(number, (before) -> wake(before.waitsUnanswered()));
		}
		if (answer.acquired()) {
			return (read.front(number).left() > 0) ? hold(read, number)
					: read.front(number, (before) -> wake(before.waitsUnanswered()));
		}
		return read.front(number, (before) -> before.waits(this.setup.timely() ? GrantSetup.POLL : 0));
	}

	private Grants hold(Grants state, int number) {
		return state.front(number, (front) -> front.holds(this.setup.timely() ? this.setup.holding() : 0));
	}

	/**
	 * A message says that a registration was granted.
	 */
	Grants granted(Grants state, Registration registration) {
		Owner owner = registration.owner();
		int number = owner.thread();
		Front front = state.front(number);
		boolean own = owner.request() == front.request();
		boolean last = own && (registration.last() || !holds(GrantRule.LAST_NUMBER_ONLY));
		return switch (front.phase()) {
			case WAITING -> (last && isAcceptable(front)) ? accepted(state, number) : woken(state, owner);
			case ASKING -> last ? early(state, number) : woken(state, owner);
			case WITHDRAWING -> {
				boolean accepts = last && isAcceptable(front) && !holds(GrantRule.NOT_WHILE_WITHDRAWING);
				yield accepts ? accepted(state, number) : own ? state : unclean(state, number, Set.of(owner));
			}
			case HOLDING -> own ? state : unclean(state, number, Set.of(owner));
			case IDLE -> holds(GrantRule.UNWANTED_GRANT_IS_GIVEN_BACK) ? withdraw(state, owner, Set.of(owner)) : state;
			case DEAD, DEAD_UNSEEN -> state;
		};
	}

	private boolean isAcceptable(Front front) {
		return this.setup.leftOfGrant(front.left()) > 0;
	}

	private Grants accepted(Grants state, int number) {
		return hold(
				state.front(number,
						(front) -> front.left(this.setup.leftOfGrant(
								holds(GrantRule.DEADLINE_BEFORE_MESSAGE) ? front.left() : this.setup.believed()))),
				number);
	}

	private Grants early(Grants state, int number) {
		return holds(GrantRule.EARLY_GRANT_IS_KEPT) ? state.front(number, Front::hearsEarly) : state;
	}

	/**
	 * A request that is woken asks at once, and names the token of the message.
	 */
	private Grants woken(Grants state, Owner owner) {
		Front front = state.front(owner.thread());
		boolean forgets = front.phase() == Phase.ASKING && !holds(GrantRule.HEARD_WHILE_ASKING_IS_NAMED);
		Tokens tokens = (owner.request() == front.request() || forgets) ? front.tokens() : front.tokens().heard(owner);
		return state.front(owner.thread(), (before) -> wake(before.with(tokens)));
	}

	/**
	 * Where steps may take any time, the front may ask at any moment anyway.
	 */
	private Front wake(Front front) {
		return this.setup.timely() ? front.woken() : front;
	}

	Grants reserved(Grants state, Owner waiter) {
		Front front = state.front(waiter.thread());
		return switch (front.phase()) {
			case WAITING, ASKING -> state.front(waiter.thread(), this::wake);
			case IDLE -> withdraw(state, waiter, Set.of());
			default -> state;
		};
	}

	Grants withdraw(Grants state, Owner owner, Set<Owner> tokens) {
		return state.front(owner.thread(), Front::withdraws).with(new Packet.Withdraw(owner, tokens));
	}

	/**
	 * The request of a front has ended. Owners that may still have the key are cleaned
	 * up, and so is the request's own token if a registration of that token may still be
	 * carried out.
	 */
	Grants end(Grants state, int number, Set<Owner> unclean) {
		Front front = state.front(number);
		boolean late = front.unanswered() && holds(GrantRule.UNANSWERED_REGISTRATION_IS_CLEANED_UP);
		Set<Owner> all = Sets.union(unclean, front.tokens().next());
		return state.superseded(number)
			.ended(number)
			.front(number, (before) -> before.ends(late ? Sets.with(all, owner(state, number)) : all));
	}

	private static Grants unclean(Grants state, int number, Set<Owner> more) {
		return state.front(number, (front) -> front.with(front.tokens().unclean(more)));
	}

	/**
	 * All that may own the key for a front that waits.
	 */
	static Set<Owner> tokens(Front front, Owner owner) {
		return Sets.with(front.tokens().all(), owner);
	}

	Owner owner(Grants state, int number) {
		return new Owner(this.setup.jvms().get(number), number, state.front(number).request());
	}

	private boolean holds(GrantRule rule) {
		return this.setup.holds(rule);
	}

}
