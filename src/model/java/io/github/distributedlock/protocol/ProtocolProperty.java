package io.github.distributedlock.protocol;

import java.util.Objects;

import io.github.distributedlock.protocol.Request.Phase;

/**
 * The properties of the {@link Protocol}.
 */
enum ProtocolProperty implements Property<State> {

	/**
	 * Two threads never believe at the same time that they hold the lock.
	 */
	MUTUAL_EXCLUSION {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.owners(Phase.HOLDING).size() <= 1;
		}

	},

	/**
	 * Nobody frees or takes a key whose owner believes in the ownership.
	 */
	HANDS_OFF {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.jvms()
				.stream()
				.map(Jvm::ownedKey)
				.filter(Objects::nonNull)
				.map(OwnedKey::owner)
				.allMatch(state.server()::isOwnedBy);
		}

	},

	/**
	 * Nobody waits for time to pass. The property does not hold in runs in which requests
	 * wait for the poll: the sender of the wake-up dies or loses the lease, the wake-up
	 * is lost, a late or refused command leaves a registration that nobody knows of, or
	 * undoes one, or, without Lua, an earlier command of the sender was not answered.
	 */
	NO_LOST_WAKE_UP {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return !quiet
					|| state.jvms().stream().flatMap((jvm) -> jvm.threads().stream()).noneMatch(Request::isUnderWay);
		}

	},

	/**
	 * Once all is quiet, the key is not left to a request that has ended, unless the
	 * lease is about to run out or the JVM is dead.
	 */
	NO_ORPHAN {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return !quiet || !(state.server().value() instanceof Value.Owned owned) || owned.doomed()
					|| !state.jvm(owned.owner().jvm()).alive() || state.isUnderWay(owned.owner());
		}

	},

	/**
	 * While a JVM is registered, others are granted the lock at most as often as there
	 * are other JVMs. Not for runs in which a registration or a reservation is lost.
	 */
	BOUNDED_BYPASS {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().bypasses() < state.jvms().size();
		}

	},

	/**
	 * A key is handed on inside a JVM only so often before others come first.
	 */
	SLICES_END {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().handOvers() <= OwnedKey.SLICE;
		}

	},

	/**
	 * No step reserves the key twice for a JVM that is dead. So a dead JVM gets at most
	 * as many reservations as there were steps that saw the JVM wait before the first of
	 * these steps ended the registration. The property does not hold in runs in which
	 * another fault leaves the registration.
	 */
	THE_DEAD_ARE_FORGOTTEN {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().reservations().stream().distinct().count() == state.ghost().reservations().size();
		}

	},

	/**
	 * Each fencing token that is granted is greater than all tokens before.
	 */
	TOKENS_INCREASE {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().grantedInOrder();
		}

	},

	/**
	 * A fencing token is not greater than the time and the number of those granted ask
	 * for, so that the time alone makes a greater one once the last is lost.
	 */
	TOKENS_KEEP_TO_THE_TIME {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().granted() <= state.server().clock() + state.ghost().tokens();
		}

	},

	/**
	 * Nobody begins to work with a token after somebody did with a greater one, so that
	 * whatever the tokens guard never has to refuse the first write of a hold. The
	 * property does not hold in runs in which the server forgets who has the lock.
	 */
	TOKENS_ARE_USED_IN_ORDER {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return state.ghost().usedInOrder();
		}

	},

	/**
	 * Whatever has happened, all requests can come to an end if nothing more goes wrong.
	 */
	RECOVERY {

		@Override
		public boolean isKept(State state, boolean quiet) {
			return true;
		}

		@Override
		public boolean isRecovery() {
			return true;
		}

	};

}
